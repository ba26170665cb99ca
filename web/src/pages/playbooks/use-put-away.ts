/** Puts playbooks away in two steps, archived first and deleted then; each has a way back. */
import { t } from '@lingui/core/macro';
import {
  type Playbook,
  useArchivePlaybook,
  useDeletePlaybook,
  useRestorePlaybook,
} from '@/api/playbooks';
import { offerUndo, showDone, showFailure } from '@/components/undo';

export function usePutAway(projectId: string, playbook: Playbook) {
  const archiving = useArchivePlaybook(projectId);
  const deleting = useDeletePlaybook(projectId);
  const restoring = useRestorePlaybook(projectId);
  const { id, name } = playbook;
  const archive = () =>
    archiving.mutate(
      { id, back: false },
      {
        onSuccess: () =>
          offerUndo({
            message: t`${name} is archived`,
            undo: () => archiving.mutateAsync({ id, back: true }),
            undone: t`${name} is back`,
          }),
        onError: showFailure,
      },
    );
  const bringBack = () =>
    archiving.mutate(
      { id, back: true },
      {
        onSuccess: () =>
          offerUndo({
            message: t`${name} is back`,
            undo: () => archiving.mutateAsync({ id, back: false }),
            undone: t`${name} is archived`,
          }),
        onError: showFailure,
      },
    );
  const remove = (then: () => void = () => undefined) =>
    deleting.mutate(playbook, {
      onSuccess: () => {
        offerUndo({
          message: t`${name} is deleted`,
          undo: () => restoring.mutateAsync(id),
          undone: t`${name} is back in the archive`,
        });
        then();
      },
      onError: showFailure,
    });
  const restore = () =>
    restoring.mutate(id, {
      onSuccess: () => showDone(t`${name} is back in the archive`),
      onError: showFailure,
    });
  return {
    archive,
    bringBack,
    remove,
    restore,
    isArchiving: archiving.isPending,
    isDeleting: deleting.isPending,
    isRestoring: restoring.isPending,
  };
}
