/** Runs the tried rules on the project's own data: the same rules and rows give the same records. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { projectKey } from '@/api/keys';
import { applyRules, type Resolution, type ResolveRequest } from '@/api/resolve';
import { undoData } from '@/components/data-undo';
import { useFormats } from '@/components/format';
import { offerUndo } from '@/components/undo';
import { useTaskOf } from './use-task-of';

export function useApply(projectId: string, request: ResolveRequest, tried: Resolution) {
  const client = useQueryClient();
  const formats = useFormats();
  const start = useMutation({ mutationFn: () => applyRules(projectId, request) });
  const task = useTaskOf<Resolution>(projectId, start.data?.id ?? null);
  const done = task.result;
  const told = useRef<string | null>(null);
  useEffect(() => {
    if (!done || told.current === done.commit) return;
    told.current = done.commit;
    void client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
    const isSame = done.rows === tried.rows && done.entities === tried.entities;
    const counted = `${formats.number(done.rows)} rows are ${formats.number(done.entities)} entities.`;
    offerUndo({
      message: isSame ? counted : `${counted} The data has changed since you tried it out.`,
      undo: () => undoData(projectId, done.commit),
    });
  }, [client, done, formats, projectId, tried]);
  return {
    done,
    running: task.running,
    error: start.error ?? task.error,
    isBusy: start.isPending || (start.data !== undefined && !done && task.error === null),
    run: () => start.mutate(),
    cancel: task.cancel,
  };
}
