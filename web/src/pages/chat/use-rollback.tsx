/** Takes back what calls of a turn changed, the last one first, and does it again; asks only where others built upon it. */
import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Turn } from '@/api/chat-types';
import type { Action } from '@/api/run-types';
import { actionsQuery, actionUndoPlanQuery, useTurnAction } from '@/api/runs';
import { turnsKey } from '@/api/threads';
import { useMay, useProject } from '@/app/project';
import { type Asking, DependantsDialog } from '@/components/taking-back/DependantsDialog';
import { offerUndo, showDone, showFailure } from '@/components/undo';

export function useRollback(
  { run_id: runId, thread_id: threadId }: Turn,
  isMeant: (key: string) => boolean,
) {
  const project = useProject();
  const client = useQueryClient();
  const mayTurn = useMay('operator');
  const undoing = useTurnAction(project.id, runId, 'undo');
  const redoing = useTurnAction(project.id, runId, 'redo');
  const [asking, setAsking] = useState<Asking | null>(null);
  const [isPending, setPending] = useState(false);

  const actions = async (): Promise<Action[]> => {
    const found = await client.query({ ...actionsQuery(project.id, runId), staleTime: 0 });
    return found.filter(({ key, way }) => isMeant(key) && way !== 'none');
  };
  /** Null when the person thought better of it. */
  const mergingRows = async (action: Action): Promise<boolean | null> => {
    const plan = await client.query(actionUndoPlanQuery(project.id, runId, action.key));
    if (plan.dependants.length === 0 && plan.blocked.length === 0) return false;
    return new Promise((answer) => setAsking({ action, plan, answer }));
  };
  const working = async (work: () => Promise<void>) => {
    setPending(true);
    try {
      await work();
    } catch (error) {
      showFailure(error);
    } finally {
      setPending(false);
      setAsking(null);
      void client.invalidateQueries({ queryKey: turnsKey(project.id, threadId) });
    }
  };
  const redo = (what: string): Promise<void> =>
    working(async () => {
      const undone = (await actions()).filter((action) => action.undone);
      for (const { key } of undone) await redoing.mutateAsync({ key });
      showDone(undone.length === 0 ? t`There is nothing to do again` : t`Done again: ${what}`);
    });
  const undo = (what: string): Promise<void> =>
    working(async () => {
      const done = (await actions()).filter((action) => !action.undone).reverse();
      for (const action of done) {
        const mergeRows = await mergingRows(action);
        setAsking(null);
        if (mergeRows === null) return;
        await undoing.mutateAsync({ key: action.key, mergeRows });
      }
      if (done.length === 0) showDone(t`There is nothing to undo`);
      else offerUndo({ message: t`Undone: ${what}`, label: t`Redo`, undo: () => redo(what) });
    });
  return { mayTurn, isPending, undo, redo, dialog: <DependantsDialog asking={asking} /> };
}
