/** Restoring an earlier state at once, with undo. */
import type { Commit } from '@/api/data-types';
import { useRestore } from '@/api/history';
import { undoData } from '@/components/data-undo';
import { offerUndo, showFailure } from '@/components/undo';

export function useRestoreAction(projectId: string, dataset: string | undefined) {
  const restore = useRestore(projectId);
  return ({ id }: Pick<Commit, 'id'>) =>
    restore.mutate(
      { commit: id, dataset },
      {
        onSuccess: (made) =>
          offerUndo({ message: made.message, undo: () => undoData(projectId, made.id) }),
        onError: showFailure,
      },
    );
}
