/** What differs between two versions, for each side of the drawing. */
import { t } from '@lingui/core/macro';
import type { Comparison, FieldChange } from '@/api/deployments';

export type DifferenceState = 'added' | 'removed' | 'changed' | 'moved' | 'rewired';

export interface Difference {
  key: string;
  title: string;
  state: DifferenceState;
  /** In words: "removed", "moved here from count". */
  word: string;
  fields: readonly FieldChange[];
}

export type Marked = ReadonlyMap<string, DifferenceState>;

export function differencesOf(comparison: Comparison): {
  left: Marked;
  right: Marked;
  all: Difference[];
} {
  const left = new Map<string, DifferenceState>();
  const right = new Map<string, DifferenceState>();
  const all: Difference[] = comparison.nodes.map(
    ({ key, title, state, from_key: from, fields }) => {
      if (state !== 'added') left.set(from ?? key, state);
      if (state !== 'removed') right.set(key, state);
      const word = state === 'moved' && from !== null ? t`moved here from ${from}` : state;
      return { key, title, state, word, fields };
    },
  );
  const told = new Set(all.map(({ key }) => key));
  const rewired = new Set(
    comparison.edges.map(({ after }) => after).filter((key) => !told.has(key)),
  );
  for (const key of rewired) {
    left.set(key, 'rewired');
    right.set(key, 'rewired');
    all.push({ key, title: key, state: 'rewired', word: t`connected otherwise`, fields: [] });
  }
  return { left, right, all };
}
