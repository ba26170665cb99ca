/** Queries that run at once: asked as a stream, kept in threads. */
import { createParser } from 'eventsource-parser';
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

/** Sends a message and tells its events; giving up the signal ends the run. */
export async function ask(
  projectId: string,
  body: { message: string; thread_id: string | null; limit: number },
  signal: AbortSignal,
  onEvent: (event: ChatEvent) => void,
): Promise<ChatAnswer> {
  const { data } = await api.POST('/api/v1/projects/{project_id}/chat/stream', {
    params: { path: { project_id: projectId } },
    body: { branch: 'main', parameters: {}, ...body },
    parseAs: 'stream',
    signal,
  });
  let answer: ChatAnswer | null = null;
  const parser = createParser({
    onEvent: ({ event, data: text }) => {
      const told = JSON.parse(text) as Record<string, unknown>;
      if (event === 'result') answer = told as unknown as ChatAnswer;
      onEvent({ kind: event ?? 'message', data: told });
    },
  });
  const reader = (data as unknown as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parser.feed(decoder.decode(value, { stream: true }));
  }
  // Assigned by the parser, which the compiler does not follow.
  const found = answer as ChatAnswer | null;
  if (found === null) throw new TypeError('The connection ended before the result came.');
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
