/** Work that takes longer than a request: followed by asking, and what it found. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import type { Task } from './data-types';
import { ApiError } from './errors';
import { projectKey } from './keys';

const ASK_EVERY = 700;

export function isOver({ status }: Pick<Task, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** Follows a task until it is over. */
export function taskQuery(projectId: string, taskId: string | undefined) {
  return queryOptions({
    queryKey: projectKey(projectId, 'task', taskId),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/tasks/{task_id}', {
          params: { path: { project_id: projectId, task_id: taskId ?? '' } },
          signal,
        }),
      ),
    enabled: taskId !== undefined,
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : ASK_EVERY),
  });
}

export function cancelTask(projectId: string, taskId: string) {
  return api.POST('/api/v1/projects/{project_id}/tasks/{task_id}/cancel', {
    params: { path: { project_id: projectId, task_id: taskId } },
  });
}

/** Why a task that is over has no result. */
export function taskError(task: Task): ApiError | null {
  if (!isOver(task) || task.status === 'done') return null;
  return new ApiError({
    status: 422,
    code: task.error_code ?? task.status,
    title: task.status === 'cancelled' ? 'Cancelled' : `${task.title} failed`,
    detail: task.error ?? '',
    requestId: null,
    retryAfterSeconds: null,
    fields: [],
  });
}

export interface Insight<Result> {
  result: Result | null;
  /** The task that is computing it. */
  task: Task | null;
  error: unknown;
  retry: () => void;
}

type Ask = (signal: AbortSignal) => Promise<{ result: unknown; task: Task | null }>;

/** Something that is computed once and then read back: the answer is the result or the task to follow. */
export function useInsight<Result>(
  projectId: string,
  key: readonly unknown[],
  ask: Ask,
): Insight<Result> {
  const answer = useQuery({
    queryKey: projectKey(projectId, 'data', ...key),
    queryFn: ({ signal }) => ask(signal),
  });
  const started = answer.data?.task ?? undefined;
  const followed = useQuery(taskQuery(projectId, started?.id));
  const task = followed.data ?? started;
  const found = answer.data?.result ?? (task?.status === 'done' ? task.result : null);
  return {
    // The schema leaves the shape of results open; the caller knows it.
    result: (found as Result | null | undefined) ?? null,
    task: task && !isOver(task) ? task : null,
    error: answer.error ?? followed.error ?? (task ? taskError(task) : null),
    retry: () => void answer.refetch(),
  };
}
