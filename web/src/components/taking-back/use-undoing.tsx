/** Takes back what a run did, at one click; asks only where later work depends on it, and offers to do it again. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Action } from '@/api/run-types';
import { actionUndoPlanQuery, useTurnAction } from '@/api/runs';
import { useProject } from '@/app/project';
import { offerUndo, showDone, showFailure } from '../undo';
import { type Asking, DependantsDialog } from './DependantsDialog';

export function useUndoing(runId: string) {
  const project = useProject();
  const client = useQueryClient();
  const undoing = useTurnAction(project.id, runId, 'undo');
  const redoing = useTurnAction(project.id, runId, 'redo');
  const [asking, setAsking] = useState<Asking | null>(null);
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
  /** Null when the person thought better of it. */
  const mergingRows = async (action: Action): Promise<boolean | null> => {
    const plan = await client.query(actionUndoPlanQuery(project.id, runId, action.key));
    if (plan.dependants.length === 0 && plan.blocked.length === 0) return false;
    return new Promise((answered) => {
      const answer = (mergeRows: boolean | null) => {
        setAsking(null);
        answered(mergeRows);
      };
      setAsking({ action, plan, answer });
    });
  };
  const redo = ({ key }: Action) =>
    working(async () => {
      await redoing.mutateAsync({ key });
      showDone('Done again');
    });
  const undo = (action: Action) =>
    working(async () => {
      const mergeRows = await mergingRows(action);
      if (mergeRows === null) return;
      await undoing.mutateAsync({ key: action.key, mergeRows });
      offerUndo({ message: `Undone: ${action.summary}`, label: 'Redo', undo: () => redo(action) });
    });
  return { isPending, undo, redo, dialog: <DependantsDialog asking={asking} /> };
}
