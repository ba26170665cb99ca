/** Which values fit where somebody types: those whose names begin with what stands behind `${`. */
import type { KnownValue } from './known-values';

const MOST = 12;

export interface Offered {
  values: KnownValue[];
  /** The whole text with a name in the place of what was typed of it. */
  insert: (name: string) => string;
}

export function offeredAt(
  text: string,
  cursor: number,
  values: readonly KnownValue[],
  isBare: boolean,
): Offered {
  const before = text.slice(0, cursor);
  const typed = (isBare ? /(^|[^\w.[\]"])([a-z][\w.[\]"]*)$/ : /(\$\{\s*)([\w.[\]"]*)$/).exec(
    before,
  );
  if (!typed) return { values: [], insert: () => text };
  const word = typed[2] ?? '';
  const fitting = values.filter(({ name }) => name.startsWith(word) && name !== word);
  const rest = text.slice(cursor);
  const end = isBare || /^\s*\}/.test(rest) ? '' : '}';
  return {
    values: fitting.slice(0, MOST),
    insert: (name) => `${text.slice(0, cursor - word.length)}${name}${end}${rest}`,
  };
}

/** The text with a value put in at the cursor: as `${…}`, or by its bare name where the text is an expression. */
export function withValue(text: string, cursor: number, name: string, isBare: boolean): string {
  return `${text.slice(0, cursor)}${isBare ? name : `\${${name}}`}${text.slice(cursor)}`;
}
