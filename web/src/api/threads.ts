/** Conversations: their list, their turns, and what can be done with them. */
import {
  type InfiniteData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type { Exhibit, ExhibitKind, ThreadSettings, Turn } from './chat-types';
import { api, bodyOf, versionedBodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { ListPage } from './types';

const THREAD = '/api/v1/projects/{project_id}/threads/{thread_id}';

const at = (projectId: string, threadId: string) => ({
  path: { project_id: projectId, thread_id: threadId },
});

export const threadsKey = (projectId: string) => projectKey(projectId, 'thread');

/** Newest first; `search` looks into titles and messages. */
export function threadsQuery(projectId: string, search: string) {
  return listQuery(projectKey(projectId, 'thread', 'list', search), (page, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/threads', {
        params: {
          path: { project_id: projectId },
          query: { ...page, ...(search === '' ? {} : { q: search }) },
        },
        signal,
      }),
    ),
  );
}

export function threadQuery(projectId: string, threadId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'thread', 'one', threadId),
    queryFn: ({ signal }) => bodyOf(api.GET(THREAD, { params: at(projectId, threadId), signal })),
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
      api.GET(`${THREAD}/turns`, { params: { ...at(projectId, threadId), query }, signal }),
    );
    return answer as unknown as ListPage<Turn>;
  });
}

export type Turns = InfiniteData<ListPage<Turn>>;

/** All turns fetched so far, oldest first. */
export function pathOf(turns: Turns | undefined): Turn[] {
  return turns?.pages.toReversed().flatMap(({ items }) => items) ?? [];
}

/** What a changed plan of a turn may name; it was settled when the turn began. */
export function planOptionsQuery(projectId: string, threadId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'thread', threadId, 'plan-options', runId),
    queryFn: ({ signal }) => {
      const params = { path: { project_id: projectId, thread_id: threadId, run_id: runId } };
      return bodyOf(api.GET(`${THREAD}/turns/{run_id}/plan-options`, { params, signal }));
    },
    staleTime: Infinity,
  });
}

/** All recorded rows that a call of a turn found. */
export function turnRowsQuery(projectId: string, threadId: string, runId: string, key: string) {
  return listQuery(
    projectKey(projectId, 'run', 'thread', threadId, 'rows', runId, key),
    async (page, signal) => {
      const params = {
        path: { project_id: projectId, thread_id: threadId, run_id: runId },
        query: { ...page, key },
      };
      return bodyOf(api.GET(`${THREAD}/turns/{run_id}/rows`, { params, signal }));
    },
  );
}

/** Everything that the turns of a thread made, newest first. */
export function exhibitsQuery(projectId: string, threadId: string, kind: ExhibitKind | null) {
  const key = projectKey(projectId, 'run', 'thread', threadId, 'artifacts', kind);
  return listQuery<Exhibit>(key, (page, signal) => {
    const query = { ...page, limit: 12, ...(kind === null ? {} : { kind }) };
    return bodyOf(
      api.GET(`${THREAD}/artifacts`, { params: { ...at(projectId, threadId), query }, signal }),
    );
  });
}

/** All rows of a table that a turn found, as CSV. */
export function tableAddress({ run_id, key }: Exhibit, projectId: string, threadId: string) {
  const [project, thread, run] = [projectId, threadId, run_id].map(encodeURIComponent);
  const turn = `/api/v1/projects/${project}/threads/${thread}/turns/${run}`;
  return `${turn}/table?key=${encodeURIComponent(key)}`;
}

export async function fetchTurn(projectId: string, threadId: string, runId: string): Promise<Turn> {
  const params = { path: { project_id: projectId, thread_id: threadId, run_id: runId } };
  return (await bodyOf(api.GET(`${THREAD}/turns/{run_id}`, { params }))) as unknown as Turn;
}

export function turnStreamAddress(projectId: string, threadId: string, runId: string): string {
  const [project, thread, run] = [projectId, threadId, runId].map(encodeURIComponent);
  return `/api/v1/projects/${project}/threads/${thread}/turns/${run}/stream`;
}

export function createThread(projectId: string, settings: ThreadSettings): Promise<{ id: string }> {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/threads', {
      params: { path: { project_id: projectId } },
      body: { settings, branch: 'main' },
    }),
  );
}

export interface ThreadChange {
  threadId: string;
  title?: string;
  settings?: Partial<ThreadSettings>;
}

/** The last word counts: what is changed is a title or a switch, seen by whoever changes it. */
async function changeThread(projectId: string, { threadId, ...body }: ThreadChange) {
  const { etag } = await versionedBodyOf(api.GET(THREAD, { params: at(projectId, threadId) }));
  const params = { ...at(projectId, threadId), header: { 'if-match': etag } };
  return bodyOf(api.PATCH(THREAD, { params, body }));
}

export function useChangeThread(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: ThreadChange) => changeThread(projectId, change),
    onSettled: () => client.invalidateQueries({ queryKey: threadsKey(projectId) }),
  });
}

export function deleteThread(projectId: string, threadId: string) {
  return api.DELETE(THREAD, { params: at(projectId, threadId) });
}

export function restoreThread(projectId: string, threadId: string) {
  return api.POST(`${THREAD}/restore`, { params: at(projectId, threadId) });
}

export type ReviewAnswer =
  | { decision: 'approve' | 'reject'; skip: string[] }
  /** The plan to run instead. */
  | { decision: 'change'; skip: []; plan: Record<string, unknown> };

/** Begins a turn for a step that was left out or failed. */
export function applyStep(
  projectId: string,
  threadId: string,
  runId: string,
  stepId: string,
): Promise<{ thread_id: string; run_id: string }> {
  const path = { project_id: projectId, thread_id: threadId, run_id: runId, step_id: stepId };
  return bodyOf(api.POST(`${THREAD}/turns/{run_id}/steps/{step_id}/apply`, { params: { path } }));
}

/** Says whether a plan may run, without which steps, or changed. */
export function reviewPlan(
  projectId: string,
  threadId: string,
  runId: string,
  body: ReviewAnswer,
): Promise<unknown> {
  const params = { path: { project_id: projectId, thread_id: threadId, run_id: runId } };
  return api.POST(`${THREAD}/turns/{run_id}/review`, { params, body });
}
