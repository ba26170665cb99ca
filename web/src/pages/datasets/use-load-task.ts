/** A load under way on the server, whatever it loads from: followed to its end. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Task } from '@/api/data-types';
import { projectKey } from '@/api/keys';
import { cancelTask, isOver, taskError, taskQuery } from '@/api/tasks';
import type { LoadResult } from '@/api/uploads';

export interface LoadTask {
  /** While it runs. */
  task: Task | null;
  isOver: boolean;
  result: LoadResult | null;
  error: unknown;
  /** Follows this one from now on, or none. */
  follow: (task: Task | null) => void;
  cancel: () => void;
}

export function useLoadTask(projectId: string): LoadTask {
  const client = useQueryClient();
  const [started, setStarted] = useState<Task | null>(null);
  const followed = useQuery(taskQuery(projectId, started?.id));
  const task = started && (followed.data ?? started);
  const ended = task && isOver(task) ? task : null;
  const result = ended?.status === 'done' ? (ended.result as unknown as LoadResult) : null;
  const isLoaded = result !== null;
  useEffect(() => {
    if (isLoaded) void client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
  }, [client, isLoaded, projectId]);
  return {
    task: ended ? null : task,
    isOver: ended !== null,
    result,
    error: ended ? taskError(ended) : null,
    follow: setStarted,
    cancel: () => {
      if (started) void cancelTask(projectId, started.id);
    },
  };
}
