/** What was written and not sent, by conversation, as long as the tab is open. */

const drafts = new Map<string, string>();
const keyOf = (projectId: string, threadId: string | null) => `${projectId}/${threadId ?? 'new'}`;

export function draftOf(projectId: string, threadId: string | null): string {
  return drafts.get(keyOf(projectId, threadId)) ?? '';
}

export function keepDraft(projectId: string, threadId: string | null, text: string): void {
  if (text === '') drafts.delete(keyOf(projectId, threadId));
  else drafts.set(keyOf(projectId, threadId), text);
}
