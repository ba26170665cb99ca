/** Long work is a run of one call: followed by asking, cancelled, found again after a reload, and what it found. */
import { t } from '@lingui/core/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { ApiError } from './errors';
import { projectKey } from './keys';
import type { components } from './schema';

const FIRST_ASKED_EVERY = 200;
const ASKED_EVERY = 800;
const SOON = 5;
const PLACE = '/api/v1/projects/{project_id}/runs';

type RunDocument = components['schemas']['RunOut'] &
  Partial<Pick<components['schemas']['RunDetail'], 'output' | 'error'>>;

interface Call {
  doing: string;
  done: number;
  total: number | null;
}

export interface LongWork {
  /** Of its run. */
  id: string;
  title: string;
  status: RunDocument['status'];
  /** What is being done. */
  doing: string;
  done: number;
  total: number | null;
  /** Once it is done. The schema leaves its shape open; the caller knows it. */
  result: unknown;
  error: { code: string; message: string } | null;
}

const WAITS: Partial<Record<RunDocument['status'], string>> = {
  queued: t`Waiting to start`,
  waiting_for_approval: t`Waiting for approval in the inbox`,
  blocked: t`Waiting for an answer in the inbox`,
};

export function workOf(run: RunDocument): LongWork {
  const call = run.progress?.call as Call | undefined;
  const output = run.output as { value: unknown } | null | undefined;
  return {
    id: run.id,
    title: run.title,
    status: run.status,
    doing: WAITS[run.status] ?? call?.doing ?? t`Working`,
    done: call?.done ?? 0,
    total: call?.total ?? null,
    result: output?.value ?? null,
    error: (run.error as LongWork['error']) ?? null,
  };
}

export function isOver({ status }: Pick<LongWork, 'status'>): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** Follows a run until it is over. */
export function workQuery(projectId: string, runId: string | undefined) {
  return queryOptions({
    queryKey: projectKey(projectId, 'work', runId),
    queryFn: async ({ signal }) => {
      const path = { project_id: projectId, run_id: runId ?? '' };
      return workOf(await bodyOf(api.GET(`${PLACE}/{run_id}`, { params: { path }, signal })));
    },
    enabled: runId !== undefined,
    refetchInterval: ({ state }) => {
      if (state.data && isOver(state.data)) return false;
      return state.dataUpdateCount < SOON ? FIRST_ASKED_EVERY : ASKED_EVERY;
    },
  });
}

/** What the reader started about a subject and is still under way, whichever page or server it was started from. */
export function underWayQuery(projectId: string, subject: 'load' | 'report') {
  return queryOptions({
    queryKey: projectKey(projectId, 'work', 'under-way', subject),
    queryFn: async ({ signal }) => {
      const query = {
        subject,
        mine: true,
        status: ['queued', 'running'] satisfies RunDocument['status'][],
      };
      const path = { project_id: projectId };
      const { items } = await bodyOf(api.GET(PLACE, { params: { path, query }, signal }));
      return items.map(workOf);
    },
    refetchInterval: ({ state }) => (state.data?.length ? ASKED_EVERY : false),
  });
}

export function cancelWork(projectId: string, runId: string) {
  return api.POST(`${PLACE}/{run_id}/cancel`, {
    params: { path: { project_id: projectId, run_id: runId } },
  });
}

/** Why work that is over has no result. */
export function workError(work: LongWork): ApiError | null {
  if (!isOver(work) || work.status === 'done') return null;
  const isCancelled = work.status === 'cancelled';
  return new ApiError({
    status: 422,
    code: work.error?.code ?? work.status,
    title: isCancelled ? t`Cancelled` : t`${work.title} failed`,
    detail: work.error?.message ?? (isCancelled ? t`Nothing was changed.` : ''),
    requestId: null,
    retryAfterSeconds: null,
    fields: [],
  });
}

export interface Insight<Result> {
  result: Result | null;
  /** The run that is computing it. */
  work: LongWork | null;
  error: unknown;
  retry: () => void;
}

type Ask = (signal: AbortSignal) => Promise<{ result: unknown; run: RunDocument | null }>;

/** Something that is computed once and then read back: the answer is the result or the run to follow. */
export function useInsight<Result>(
  projectId: string,
  key: readonly unknown[],
  ask: Ask,
): Insight<Result> {
  const answer = useQuery({
    queryKey: projectKey(projectId, 'data', ...key),
    queryFn: ({ signal }) => ask(signal),
  });
  const started = answer.data?.run ? workOf(answer.data.run) : undefined;
  const followed = useQuery(workQuery(projectId, started?.id));
  const work = followed.data ?? started;
  const found = answer.data?.result ?? (work?.status === 'done' ? work.result : null);
  return {
    result: (found as Result | null | undefined) ?? null,
    work: work && !isOver(work) ? work : null,
    error: answer.error ?? followed.error ?? (work ? workError(work) : null),
    retry: () => void answer.refetch(),
  };
}

export interface FollowedWork<Result> {
  result: Result | null;
  /** While it runs. */
  running: LongWork | null;
  error: unknown;
  isWaiting: boolean;
  cancel: () => void;
}

/** Work whose run the address or the page names, followed until it is over. */
export function useWork<Result>(projectId: string, id: string | null): FollowedWork<Result> {
  const query = useQuery({
    ...workQuery(projectId, id ?? undefined),
    // What a run found stays as it is.
    staleTime: ({ state }) => (state.data && isOver(state.data) ? Infinity : 0),
  });
  const work = id === null ? undefined : query.data;
  return {
    result: work?.status === 'done' ? (work.result as Result | null) : null,
    running: work && !isOver(work) ? work : null,
    error: id === null ? null : (query.error ?? (work ? workError(work) : null)),
    isWaiting: id !== null && query.isPending,
    cancel: () => {
      if (id !== null) void cancelWork(projectId, id);
    },
  };
}
