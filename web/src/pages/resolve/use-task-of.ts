/** A task that the address names, followed until it is over. */
import { useQuery } from '@tanstack/react-query';
import type { Task } from '@/api/data-types';
import { cancelTask, isOver, taskError, taskQuery } from '@/api/tasks';

export interface FollowedTask<Result> {
  result: Result | null;
  /** While it runs. */
  running: Task | null;
  error: unknown;
  isWaiting: boolean;
  cancel: () => void;
}

export function useTaskOf<Result>(projectId: string, id: string | null): FollowedTask<Result> {
  const query = useQuery({
    ...taskQuery(projectId, id ?? undefined),
    // What a task found stays as it is.
    staleTime: ({ state }) => (state.data && isOver(state.data) ? Infinity : 0),
  });
  const task = id === null ? undefined : query.data;
  return {
    // The schema leaves the shape of results open; the caller knows it.
    result: task?.status === 'done' ? (task.result as Result | null) : null,
    running: task && !isOver(task) ? task : null,
    error: id === null ? null : (query.error ?? (task ? taskError(task) : null)),
    isWaiting: id !== null && query.isPending,
    cancel: () => {
      if (id !== null) void cancelTask(projectId, id);
    },
  };
}
