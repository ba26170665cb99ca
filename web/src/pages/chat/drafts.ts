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

const questions = new Map<string, string>();

/** A question that was asked on another page, for the conversation that begins next. Never from an address: a link must not ask. */
export function leaveQuestion(projectId: string, question: string): void {
  questions.set(projectId, question);
}

/** Once. */
export function takeQuestion(projectId: string): string | undefined {
  const question = questions.get(projectId);
  questions.delete(projectId);
  return question;
}
