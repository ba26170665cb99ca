/** Changing definitions from the page: done at once, told in a toast, undone by its button. */
import { t } from '@lingui/core/macro';
import { useCallback } from 'react';
import { type DefinitionAction, useDefinitionAction } from '@/api/definitions';
import { useProject } from '@/app/project';
import { offerUndo, showFailure } from '@/components/undo';

export function useChange(revision: number) {
  const project = useProject();
  const { mutate, mutateAsync, isPending } = useDefinitionAction(project.id);
  const change = useCallback(
    (action: DefinitionAction, message: string, onDone?: () => void) =>
      mutate(
        { action, revision },
        {
          onError: showFailure,
          onSuccess: ({ revision: made, changed }) => {
            onDone?.();
            if (changed === 0) return;
            offerUndo({
              message,
              undo: () => mutateAsync({ action: { kind: 'restore', revision }, revision: made }),
              undone: t`The definitions are as they were`,
            });
          },
        },
      ),
    [mutate, mutateAsync, revision],
  );
  return { change, isPending };
}

export type Change = ReturnType<typeof useChange>['change'];
