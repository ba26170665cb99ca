/** Does a step that was left out or failed after all, as a turn of its own whose plan is looked at first. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import type { Turn, TurnStep } from '@/api/chat-types';
import { applyStep } from '@/api/threads';
import { useMay, useProject } from '@/app/project';
import { showFailure } from '@/components/undo';

/** The message, the thread and the run of a turn that has begun. */
export type OnStarted = (message: string, threadId: string, runId: string) => void;

interface Props {
  step: TurnStep;
  turn: Turn;
  onStarted: OnStarted;
}

export function ApplyStep({ step, turn, onStarted }: Props) {
  const project = useProject();
  const mayAsk = useMay('operator');
  const applying = useMutation({
    mutationFn: () => applyStep(project.id, turn.thread_id, turn.run_id, step.id),
    onSuccess: ({ thread_id, run_id }) => onStarted(step.title, thread_id, run_id),
    onError: showFailure,
  });
  if (!mayAsk || (step.status !== 'skipped' && step.status !== 'failed')) return null;
  const word = step.status === 'failed' ? t`Try again` : t`Apply`;
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<Play size={12} aria-hidden />}
      loading={applying.isPending}
      aria-label={`${word}: ${step.title}`}
      onClick={() => applying.mutate()}
    >
      {word}
    </Button>
  );
}
