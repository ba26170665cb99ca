/** States of playbooks: the word, the icon and the tone of each. */
import { t } from '@lingui/core/macro';
import { Archive, CircleCheck, PencilLine, Trash2 } from 'lucide-react';
import type { PlaybookState } from '@/api/playbooks';
import type { StateLook } from '@/components/run-status';

export const STATES: Record<PlaybookState, StateLook> = {
  draft: { word: t`Draft`, icon: PencilLine, tone: 'neutral' },
  active: { word: t`Active`, icon: CircleCheck, tone: 'good' },
  archived: { word: t`Archived`, icon: Archive, tone: 'wait' },
};

export const DELETED: StateLook = { word: t`Deleted`, icon: Trash2, tone: 'neutral' };

/** Folders with those above them, in order: `Finance/Monthly` also counts for `Finance`. */
export function foldersOf(playbooks: readonly { folder: string }[]): string[] {
  const found = new Set<string>();
  for (const { folder } of playbooks) {
    const parts = folder.split('/').filter(Boolean);
    parts.forEach((_, index) => found.add(parts.slice(0, index + 1).join('/')));
  }
  return [...found].sort((a, b) => a.localeCompare(b));
}

/** The line that a problem of a document names at its end, and the message without it. */
export function lineOf(message: string): { text: string; line?: number } {
  const found = /\s*\(line (\d+)\)$/.exec(message) ?? /\bline (\d+)\b/.exec(message);
  if (!found) return { text: message };
  const text = message.endsWith(')') ? message.replace(/\s*\(line \d+\)$/, '') : message;
  return { text, line: Number(found[1]) };
}
