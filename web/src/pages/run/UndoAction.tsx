/** The button that takes an action of a run back, or puts it back in place. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { Redo2, Undo2 } from 'lucide-react';
import type { Action } from '@/api/run-types';
import { useMay } from '@/app/project';
import { useUndoing } from '@/components/taking-back/use-undoing';

interface Props {
  runId: string;
  action: Action;
  /** What the call is called, for who hears the button rather than sees where it stands. */
  title: string;
}

export function UndoAction({ runId, action, title }: Props) {
  const mayTurn = useMay('operator');
  const { isPending, undo, redo, dialog } = useUndoing(runId);
  if (action.way === 'none' || !mayTurn) return null;
  const [word, turn, Icon] = action.undone
    ? ([t`Redo`, redo, Redo2] as const)
    : ([t`Undo`, undo, Undo2] as const);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Icon size={14} aria-hidden />}
        aria-label={`${word}: ${title}`}
        loading={isPending}
        onClick={() => void turn(action)}
      >
        {word}
      </Button>
      {dialog}
    </>
  );
}
