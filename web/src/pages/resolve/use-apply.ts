/** Runs the tried rules on the project's own data: the same rules and rows give the same records. */
import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { projectKey } from '@/api/keys';
import { applyRules, type Resolution } from '@/api/resolve';
import { useProject } from '@/app/project';
import { undoData } from '@/components/data-undo';
import { useFormats } from '@/components/format';
import { offerUndo } from '@/components/undo';
import { useWork } from '@/api/long-work';
import type { Way } from './use-trial';

export type Applying = ReturnType<typeof useApply>;

export function useApply(rules: string, tried: Resolution, way: Way) {
  const { id: projectId } = useProject();
  const client = useQueryClient();
  const formats = useFormats();
  const { datasets, branch, applied } = way.steps;
  const [target = ''] = tried.results;
  const start = useMutation({
    // Held to the data that was tried: if it has changed, the server says so and does nothing.
    mutationFn: () => applyRules(projectId, { datasets, rules, target }, tried.base),
    onSuccess: ({ id }) => way.apply(id),
  });
  const task = useWork<Resolution>(projectId, applied);
  const done = task.result;
  const isDone = done !== null;
  const tell = useEffectEvent(() => {
    // The branch is there until applying has ended, also when that was while nobody looked.
    if (!done || branch === null) return;
    way.finish();
    void client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
    offerUndo({
      message: t`${formats.number(done.rows)} rows are ${formats.number(done.entities)} entities.`,
      undo: () => undoData(projectId, done.commit),
    });
  });
  useEffect(() => {
    if (isDone) tell();
  }, [isDone]);
  return {
    done,
    running: task.running,
    error: start.error ?? task.error,
    isBusy: start.isPending || (applied !== null && !isDone && task.error === null),
    run: () => start.mutate(),
    cancel: task.cancel,
  };
}
