/** Messages asked as a stream: queries that run at once, and turns of conversations. */
import { t } from '@lingui/core/macro';
import { createParser } from 'eventsource-parser';
import type { Asked } from './chat-types';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { Artifact } from './run-types';
import type { components } from './schema';
import type { ListPage } from './types';

export type QueryType = 'sql' | 'plan' | 'python';
type Schemas = components['schemas'];

export interface Message extends Omit<
  Schemas['MessageOut'],
  'result' | 'artifacts' | 'error' | 'query_type'
> {
  query_type: QueryType | null;
  result: unknown;
  artifacts: Artifact[];
  error: { code: string; message: string } | null;
}

export interface ChatAnswer {
  thread_id: string;
  run_id: string | null;
  status: string;
  answer: string;
  message: Message | null;
}

export interface ChatEvent {
  kind: string;
  data: Record<string, unknown>;
}

/** An event with its place in the journal; live text has none. */
export interface TurnEvent extends ChatEvent {
  id: string | null;
}

interface Body extends Asked {
  limit?: number;
}

/** Sends a message and tells what comes of it until the connection ends, however it ends. */
export async function tell(
  projectId: string,
  body: Body,
  signal: AbortSignal,
  onEvent: (event: TurnEvent) => void,
): Promise<void> {
  const { data } = await api.POST('/api/v1/projects/{project_id}/chat/stream', {
    params: { path: { project_id: projectId } },
    body: { parameters: {}, limit: 200, ...body },
    parseAs: 'stream',
    signal,
  });
  const parser = createParser({
    onEvent: ({ id, event, data: text }) =>
      onEvent({
        id: id ?? null,
        kind: event ?? 'message',
        data: JSON.parse(text) as Record<string, unknown>,
      }),
  });
  const reader = (data as unknown as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}

/** Asks a query and waits for its answer; giving up the signal ends the run. */
export async function ask(
  projectId: string,
  body: { message: string; thread_id: string | null; limit: number },
  signal: AbortSignal,
  onEvent: (event: ChatEvent) => void,
): Promise<ChatAnswer> {
  let answer: ChatAnswer | null = null;
  await tell(projectId, body, signal, (event) => {
    if (event.kind === 'result') answer = event.data as unknown as ChatAnswer;
    onEvent(event);
  });
  // Assigned by the callback, which the compiler does not follow.
  const found = answer as ChatAnswer | null;
  if (found === null) throw new TypeError(t`The connection ended before the result came.`);
  return found;
}

/** What was asked in a thread, newest first. */
export function messagesQuery(projectId: string, threadId: string) {
  return listQuery(projectKey(projectId, 'run', 'thread', threadId), async (query, signal) => {
    const page = await bodyOf(
      api.GET('/api/v1/projects/{project_id}/threads/{thread_id}/messages', {
        params: { path: { project_id: projectId, thread_id: threadId }, query },
        signal,
      }),
    );
    return page as unknown as ListPage<Message>;
  });
}
