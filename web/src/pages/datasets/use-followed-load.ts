/** A load under way on the server, whatever it loads from: followed to its end. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { projectKey } from '@/api/keys';
import { cancelWork, isOver, type LongWork, workError, workQuery } from '@/api/long-work';
import type { LoadResult } from '@/api/uploads';

export interface FollowedLoad {
  /** While it runs. */
  work: LongWork | null;
  isOver: boolean;
  result: LoadResult | null;
  error: unknown;
  /** Follows this one from now on, or none. */
  follow: (work: LongWork | null) => void;
  cancel: () => void;
}

export function useFollowedLoad(projectId: string): FollowedLoad {
  const client = useQueryClient();
  const [started, setStarted] = useState<LongWork | null>(null);
  const followed = useQuery(workQuery(projectId, started?.id));
  const work = started && (followed.data ?? started);
  const ended = work && isOver(work) ? work : null;
  const result = ended?.status === 'done' ? (ended.result as LoadResult) : null;
  const isLoaded = result !== null;
  useEffect(() => {
    if (isLoaded) void client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
  }, [client, isLoaded, projectId]);
  return {
    work: ended ? null : work,
    isOver: ended !== null,
    result,
    error: ended ? workError(ended) : null,
    follow: setStarted,
    cancel: () => {
      if (started) void cancelWork(projectId, started.id);
    },
  };
}
