/** Texts that were changed and not saved yet: they are there again when the drawer was closed in between. */
import { useState } from 'react';

const drafts = new Map<string, string>();

export function useDraft(playbookId: string): [string | null, (text: string | null) => void] {
  const [draft, setDraft] = useState(() => drafts.get(playbookId) ?? null);
  const change = (text: string | null) => {
    setDraft(text);
    if (text === null) drafts.delete(playbookId);
    else drafts.set(playbookId, text);
  };
  return [draft, change];
}
