/** The versions of a dataset that its commits made, each once, newest first. */
import type { Commit } from '@/api/data-types';

export interface VersionChoice {
  version: string;
  message: string;
  time: string;
}

export function versionChoices(commits: Commit[], dataset: string): VersionChoice[] {
  const found = new Map<string, VersionChoice>();
  for (const { changes, message, created_at } of commits) {
    const change = changes.find(({ kind, name }) => kind === 'dataset' && name === dataset);
    const version = change?.after;
    if (version && !found.has(version)) found.set(version, { version, message, time: created_at });
  }
  return [...found.values()];
}
