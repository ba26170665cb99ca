/** Conversations: their list, their turns, and what can be done with them. */
import {
  type InfiniteData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type { Suggestion, Thread, ThreadSettings, Turn } from './chat-types';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { ListPage } from './types';

type Untyped = (
  path: string,
  init: Record<string, unknown>,
) => Promise<{ data?: object; response: Response }>;
const get = api.GET as unknown as Untyped;
const post = api.POST as unknown as Untyped;
const patch = api.PATCH as unknown as Untyped;
const remove = api.DELETE as unknown as Untyped;

const PROJECT = '/api/v1/projects/{project_id}';
const THREAD = `${PROJECT}/threads/{thread_id}`;

const at = (projectId: string, threadId: string) => ({
  path: { project_id: projectId, thread_id: threadId },
});

export const threadsKey = (projectId: string) => projectKey(projectId, 'thread');

/** Newest first; `search` looks into titles. */
export function threadsQuery(projectId: string, search: string) {
  return listQuery(
    projectKey(projectId, 'thread', 'list', search),
    async (page, signal) =>
      (await bodyOf(
        get(`${PROJECT}/threads`, {
          params: {
            path: { project_id: projectId },
            query: { ...page, ...(search === '' ? {} : { q: search }) },
          },
          signal,
        }),
      )) as unknown as ListPage<Thread>,
  );
}

export function threadQuery(projectId: string, threadId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'thread', 'one', threadId),
    queryFn: async ({ signal }) =>
      (await bodyOf(get(THREAD, { params: at(projectId, threadId), signal }))) as unknown as Thread,
  });
}

/** Everything fetched of the turns of a thread, whichever branch of it. */
export function turnsKey(projectId: string, threadId: string) {
  // Turns are runs: an event about a run makes them stale.
  return projectKey(projectId, 'run', 'thread', threadId, 'turns');
}

/** The turns that lead to a leaf, without one to the head of the thread; the last ones first, each page oldest first. */
export function turnsQuery(projectId: string, threadId: string, leaf: string | null) {
  return listQuery([...turnsKey(projectId, threadId), leaf], async (page, signal) => {
    const query = { ...page, ...(leaf === null ? {} : { leaf }) };
    const answer = await bodyOf(
      get(`${THREAD}/turns`, { params: { ...at(projectId, threadId), query }, signal }),
    );
    return answer as unknown as ListPage<Turn>;
  });
}

export type Turns = InfiniteData<ListPage<Turn>>;

/** All turns fetched so far, oldest first. */
export function pathOf(turns: Turns | undefined): Turn[] {
  return turns?.pages.toReversed().flatMap(({ items }) => items) ?? [];
}

export async function fetchTurn(projectId: string, threadId: string, runId: string): Promise<Turn> {
  const params = { path: { project_id: projectId, thread_id: threadId, run_id: runId } };
  return (await bodyOf(get(`${THREAD}/turns/{run_id}`, { params }))) as unknown as Turn;
}

export function turnStreamAddress(projectId: string, threadId: string, runId: string): string {
  const [project, thread, run] = [projectId, threadId, runId].map(encodeURIComponent);
  return `/api/v1/projects/${project}/threads/${thread}/turns/${run}/stream`;
}

export async function createThread(
  projectId: string,
  settings: ThreadSettings,
): Promise<{ id: string }> {
  const body = { settings };
  const params = { path: { project_id: projectId } };
  return (await bodyOf(post(`${PROJECT}/threads`, { params, body }))) as unknown as Thread;
}

export interface ThreadChange {
  threadId: string;
  /** The one that was read. */
  revision: number;
  title?: string;
  settings?: Partial<ThreadSettings>;
}

export function useChangeThread(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ threadId, revision, ...body }: ThreadChange) =>
      bodyOf(
        patch(THREAD, {
          params: { ...at(projectId, threadId), header: { 'if-match': `"${revision}"` } },
          body,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: threadsKey(projectId) }),
  });
}

export function deleteThread(projectId: string, threadId: string) {
  return remove(THREAD, { params: at(projectId, threadId) });
}

export function restoreThread(projectId: string, threadId: string) {
  return post(`${THREAD}/restore`, { params: at(projectId, threadId) });
}

export interface ReviewAnswer {
  decision: 'approve' | 'reject';
  skip: string[];
}

/** Says whether a plan may run, and without which steps. */
export function reviewPlan(
  projectId: string,
  threadId: string,
  runId: string,
  body: ReviewAnswer,
): Promise<unknown> {
  const params = { path: { project_id: projectId, thread_id: threadId, run_id: runId } };
  return post(`${THREAD}/turns/{run_id}/review`, { params, body });
}

/** What could be done next, from what is known about the datasets. */
export function suggestionsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'suggestions'),
    queryFn: async ({ signal }) => {
      const answer = await bodyOf(
        get(`${PROJECT}/suggestions`, { params: { path: { project_id: projectId } }, signal }),
      );
      return (answer as unknown as ListPage<Suggestion>).items;
    },
  });
}
