/** Takes back what a run did, at one click; lists first what else goes back where later work depends on it. */
import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Action } from '@/api/run-types';
import { actionUndoPlanQuery, useTurnAction } from '@/api/runs';
import { useProject } from '@/app/project';
import { offerUndo, showDone, showFailure } from '../undo';
import { TakeBackDialog } from './TakeBackDialog';

export function useUndoing(runId: string) {
  const project = useProject();
  const client = useQueryClient();
  const undoing = useTurnAction(project.id, runId, 'undo');
  const redoing = useTurnAction(project.id, runId, 'redo');
  const [asking, setAsking] = useState<Action | null>(null);
  const [isPending, setPending] = useState(false);

  const working = async (work: () => Promise<void>) => {
    setPending(true);
    try {
      await work();
    } catch (error) {
      showFailure(error);
    } finally {
      setPending(false);
    }
  };
  const redo = ({ key }: Action) =>
    working(async () => {
      await redoing.mutateAsync({ key });
      showDone(t`Done again`);
    });
  const undo = (action: Action) =>
    working(async () => {
      const plan = await client.query(actionUndoPlanQuery(project.id, runId, action.key));
      if (plan.dependants.length > 0 || plan.blocked.length > 0) {
        setAsking(action);
        return;
      }
      await undoing.mutateAsync({ key: action.key });
      offerUndo({
        message: t`Undone: ${action.summary}`,
        label: t`Redo`,
        undo: () => redo(action),
      });
    });
  const undoOtherRows = (action: Action) =>
    working(async () => {
      await undoing.mutateAsync({ key: action.key, mergeRows: true });
      showDone(t`Undone: ${action.summary}`);
    });
  const dialog = (
    <TakeBackDialog
      title={t`Later work depends on it`}
      whole={{ run_id: runId, key: asking?.key ?? '' }}
      opened={asking !== null}
      onClose={() => setAsking(null)}
      undoOtherRows={asking ? () => void undoOtherRows(asking) : undefined}
    />
  );
  return { isPending, undo, redo, dialog };
}
