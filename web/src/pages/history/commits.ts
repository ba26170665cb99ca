/** Reading a list of commits: what was taken back, which datasets changed, and where to see it. */
import type { Commit, EntryChange } from '@/api/data-types';
import { datasetPath } from '@/components/dataset-path';

/** Commits whose latest word, from newest to oldest, is an undo; each with the commit that undid it. */
export function undoneIn(newestFirst: Pick<Commit, 'id' | 'undoes' | 'redoes'>[]) {
  const decided = new Set<string>();
  const undone = new Map<string, string>();
  for (const { id, undoes, redoes } of newestFirst) {
    if (undoes !== null && !decided.has(undoes)) undone.set(undoes, id);
    const about = undoes ?? redoes;
    if (about !== null) decided.add(about);
  }
  return undone;
}

/** The datasets that a commit changed, or the one of that name. */
export function datasetChanges({ changes }: Pick<Commit, 'changes'>, name?: string): EntryChange[] {
  return changes.filter(
    (change) => change.kind === 'dataset' && (name === undefined || change.name === name),
  );
}

export function diffAddress(projectId: string, name: string, before: string, after: string) {
  const query = new URLSearchParams({ tab: 'compare', before, after });
  return `${datasetPath(projectId, name)}?${query}`;
}

export function versionAddress(projectId: string, name: string, version: string): string {
  return `${datasetPath(projectId, name)}?${new URLSearchParams({ version })}`;
}
