/** Query keys. The third part is the noun of the events that make a query stale (see live.ts). */

export const sessionKey = ['session'] as const;
export const meKey = ['me'] as const;

/**
 * The key of something that belongs to a project. `noun` is the one in the event types: an
 * `org.steward.member.changed` event refreshes every query under `projectKey(id, 'member')`.
 */
export function projectKey(projectId: string, noun: string, ...rest: readonly unknown[]) {
  return ['project', projectId, noun, ...rest] as const;
}
