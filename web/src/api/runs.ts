/** Runs of a project: list, one run with its calls and journal, and everything that can be done with it. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type {
  Action,
  Call,
  Failure,
  JournalEntry,
  ListedRun,
  Run,
  RunDetail,
  RunStatus,
  StartRequest,
} from './run-types';
import type { components } from './schema';
import type { ListPage } from './types';

type Schemas = components['schemas'];

/** What a figure counts, as its list is asked for. */
export const COUNTED_KEYS = [
  'flow',
  'revision',
  'since',
  'until',
  'used',
  'name',
  'agent',
  'failed',
  'code',
  'created_by',
] as const;
export type Counted = Partial<Record<(typeof COUNTED_KEYS)[number], string>>;

export interface RunFilter {
  statuses: RunStatus[];
  text: string;
  mine: boolean;
  /** Whether finished changes by hand are listed too. */
  byHand: boolean;
  counted?: Counted;
}

export function runsQuery(
  projectId: string,
  { statuses, text, mine, byHand, counted = {} }: RunFilter,
) {
  return listQuery(
    projectKey(projectId, 'run', 'list', statuses, text, mine, byHand, counted),
    async (query, signal) => {
      const page = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs', {
          params: {
            path: { project_id: projectId },
            query: {
              ...query,
              ...(statuses.length > 0 ? { status: statuses } : {}),
              ...(text === '' ? {} : { q: text }),
              mine,
              by_hand: byHand,
              ...(counted as object),
            },
          },
          signal,
        }),
      );
      return page as unknown as ListPage<ListedRun>;
    },
  );
}

const at = (projectId: string, runId: string) => ({
  params: { path: { project_id: projectId, run_id: runId } },
});

/** A run; looked at again until it is over, so that a page never hangs on one missed event. */
export function runQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'one', runId),
    queryFn: async ({ signal }) => {
      const path = '/api/v1/projects/{project_id}/runs/{run_id}';
      const run = await bodyOf(api.GET(path, { ...at(projectId, runId), signal }));
      return run as unknown as RunDetail;
    },
    refetchInterval: ({ state: { data, status } }) => {
      if (status === 'error' || (data && isFinal(data.status))) return false;
      return data && MOVING.has(data.status) ? PAUSE : LONG_PAUSE;
    },
  });
}

/** What the run did, call by call. */
export function callsQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'calls', runId),
    queryFn: async ({ signal }) => {
      const path = '/api/v1/projects/{project_id}/runs/{run_id}/calls';
      const { items } = await bodyOf(api.GET(path, { ...at(projectId, runId), signal }));
      return items as unknown as Call[];
    },
  });
}

/** How each change of the run can be taken back. */
export function actionsQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'actions', runId),
    queryFn: async ({ signal }): Promise<Action[]> => {
      const path = '/api/v1/projects/{project_id}/runs/{run_id}/actions';
      const { items } = await bodyOf(api.GET(path, { ...at(projectId, runId), signal }));
      return items;
    },
  });
}

/** Entries of the journal; with `about`, those about one call, step or wait. */
export function journalQuery(projectId: string, runId: string, about: string | null) {
  return listQuery<JournalEntry>(
    projectKey(projectId, 'run', 'journal', runId, about),
    (query, signal) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/journal', {
          params: {
            path: { project_id: projectId, run_id: runId },
            query: { ...query, ...(about === null ? {} : { about }) },
          },
          signal,
        }),
      ),
  );
}

/** What depends on an action, before it is taken back. Asked anew each time. */
export function actionUndoPlanQuery(projectId: string, runId: string, key: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'undo-plan', runId, key),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/undo-plan', {
          params: { path: { project_id: projectId, run_id: runId }, query: { key } },
          signal,
        }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
}

export function startRun(projectId: string, body: Partial<StartRequest>): Promise<Run> {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/runs', {
      params: { path: { project_id: projectId } },
      body: body,
    }),
  ) as unknown as Promise<Run>;
}

export type Control = 'pause' | 'resume' | 'cancel';

export function controlRun(projectId: string, runId: string, action: Control) {
  const where = at(projectId, runId);
  if (action === 'pause') {
    return bodyOf(api.POST('/api/v1/projects/{project_id}/runs/{run_id}/pause', where));
  }
  if (action === 'resume') {
    return bodyOf(api.POST('/api/v1/projects/{project_id}/runs/{run_id}/resume', where));
  }
  return bodyOf(api.POST('/api/v1/projects/{project_id}/runs/{run_id}/cancel', where));
}

export function replayRun(projectId: string, runId: string) {
  const path = '/api/v1/projects/{project_id}/runs/{run_id}/replay';
  return bodyOf(api.POST(path, at(projectId, runId)));
}

export function verifyRun(projectId: string, runId: string) {
  const path = '/api/v1/projects/{project_id}/runs/{run_id}/verify';
  return bodyOf(api.GET(path, at(projectId, runId)));
}

export interface Fork {
  at: string | null;
  changes: Record<string, unknown>;
}

export function forkRun(projectId: string, runId: string, body: Fork) {
  const path = '/api/v1/projects/{project_id}/runs/{run_id}/fork';
  return bodyOf(api.POST(path, { ...at(projectId, runId), body }));
}

export interface Turn {
  key: string;
  /** Undo only where nobody changed rows since. */
  mergeRows?: boolean;
}

/** Takes actions of a run back, or puts them in place again. */
export function useTurnAction(projectId: string, runId: string, way: 'undo' | 'redo') {
  const client = useQueryClient();
  const where = at(projectId, runId);
  return useMutation({
    mutationFn: ({ key, mergeRows = false }: Turn) =>
      way === 'undo'
        ? bodyOf(
            api.POST('/api/v1/projects/{project_id}/runs/{run_id}/undo', {
              ...where,
              body: { key, merge_rows: mergeRows },
            }),
          )
        : bodyOf(
            api.POST('/api/v1/projects/{project_id}/runs/{run_id}/redo', {
              ...where,
              body: { key },
            }),
          ),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: projectKey(projectId, 'run') });
      await client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
    },
  });
}

function address(projectId: string, runId: string, rest: string): string {
  const [project, run] = [projectId, runId].map(encodeURIComponent);
  return `/api/v1/projects/${project}/runs/${run}/${rest}`;
}

export const runStreamAddress = (projectId: string, runId: string) =>
  address(projectId, runId, 'stream');

export const capsuleAddress = (projectId: string, runId: string, asTest: boolean) =>
  address(projectId, runId, asTest ? 'capsule?test=true' : 'capsule');

export const artifactAddress = (projectId: string, runId: string, digest: string) =>
  address(projectId, runId, `artifacts/${digest}`);

const FINAL: ReadonlySet<RunStatus> = new Set(['done', 'failed', 'cancelled']);
const MOVING: ReadonlySet<RunStatus> = new Set(['queued', 'running', 'reviewing']);

export function isFinal(status: RunStatus): boolean {
  return FINAL.has(status);
}

export type NodeStanding = Omit<Schemas['NodeStandingOut'], 'error'> & { error: Failure | null };
export type NodeCall = Omit<Schemas['NodeCallOut'], 'error'> & { error: Failure | null };

/** Milliseconds between two looks at a run that goes on, and at one that waits for a person. */
const PAUSE = 1_500;
const LONG_PAUSE = 15_000;

interface Standings {
  isOver: boolean;
  byNode: ReadonlyMap<string, NodeStanding>;
}

/** How each node of the run's flow stands, by its key on the canvas; looked at again until the run is over. */
export function standingsQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'nodes', runId),
    queryFn: async ({ signal }): Promise<Standings> => {
      const path = '/api/v1/projects/{project_id}/runs/{run_id}/nodes';
      const found = await bodyOf(api.GET(path, { ...at(projectId, runId), signal }));
      const byNode = new Map(found.items.map((each) => [each.node, each as NodeStanding]));
      return { isOver: found.is_over, byNode };
    },
    select: ({ byNode }) => byNode,
    refetchInterval: ({ state }) => (state.data?.isOver === true ? false : PAUSE),
  });
}

/** The calls of one node: one for each item of the maps around it. */
export function nodeCallsQuery(projectId: string, runId: string, node: string) {
  return listQuery<NodeCall>(
    projectKey(projectId, 'run', 'node-calls', runId, node),
    async (query, signal) => {
      const page = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/node-calls', {
          params: {
            path: { project_id: projectId, run_id: runId },
            query: { ...query, node },
          },
          signal,
        }),
      );
      return page as unknown as ListPage<NodeCall>;
    },
  );
}
