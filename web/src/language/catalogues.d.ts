/** What scripts/words.ts makes of the catalogues under src/locales. */
declare module 'virtual:catalogues' {
  import type { Messages } from '@lingui/core';

  /** One for each language that is translated in full. */
  export const catalogues: Partial<Record<string, () => Promise<{ default: Messages }>>>;
}
