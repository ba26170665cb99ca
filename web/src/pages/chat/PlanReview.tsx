/** Asks whether a plan may run: as it is, without some of its steps, changed, or not at all. */
import { plural, t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Check, Pencil, X } from 'lucide-react';
import type { Turn, TurnPlan } from '@/api/chat-types';
import { reviewPlan, turnsKey } from '@/api/threads';
import { useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { useAnswered } from '@/components/waiting/answering';
import { KeyHint } from '@/components/waiting/Facts';
import classes from './plan.module.css';

interface Props {
  turn: Turn;
  plan: TurnPlan;
  skipped: ReadonlySet<string>;
  hasKeys: boolean;
  onEdit: () => void;
}

export function PlanReview({ turn, plan, skipped, hasKeys, onEdit }: Props) {
  const project = useProject();
  const client = useQueryClient();
  const mayAnswer = useMay('operator');
  const { send, isPending, error } = useAnswered();
  const { thread_id: threadId, run_id: runId } = turn;
  const say = (decision: 'approve' | 'reject') =>
    void send(
      () => reviewPlan(project.id, threadId, runId, { decision, skip: [...skipped] }),
      () => {
        showDone(decision === 'approve' ? t`Approved` : t`Rejected`);
        void client.invalidateQueries({ queryKey: turnsKey(project.id, threadId) });
      },
    );
  const isNothing = skipped.size === plan.plan.steps.length;
  const keys = hasKeys && mayAnswer && !isPending;
  useHotkeys(
    keys
      ? [
          ['a', () => !isNothing && say('approve')],
          ['e', onEdit],
          ['r', () => say('reject')],
        ]
      : [],
  );
  const wait = turn.waits.find(({ kind }) => kind === 'plan');
  if (!mayAnswer) {
    return (
      <Text size="sm" c="dimmed">
        {t`The plan waits for somebody who may approve it.`}
      </Text>
    );
  }
  return (
    <div className={classes.review}>
      <Text size="sm">{wait?.request?.reason ?? wait?.reason ?? t`Shall this be done?`}</Text>
      <FormError error={error} />
      <div className={classes.buttons}>
        <Button
          leftSection={<Check size={14} aria-hidden />}
          rightSection={hasKeys && <KeyHint letter="A" />}
          loading={isPending}
          disabled={isNothing}
          onClick={() => say('approve')}
        >
          {skipped.size === 0
            ? t`Approve the plan`
            : plural(skipped.size, {
                one: `Approve without ${skipped.size} step`,
                other: `Approve without ${skipped.size} steps`,
              })}
        </Button>
        <Button
          variant="default"
          leftSection={<Pencil size={14} aria-hidden />}
          rightSection={hasKeys && <KeyHint letter="E" />}
          disabled={isPending}
          onClick={onEdit}
        >
          {t`Edit the plan`}
        </Button>
        <Button
          variant="light"
          color="red"
          leftSection={<X size={14} aria-hidden />}
          rightSection={hasKeys && <KeyHint letter="R" />}
          disabled={isPending}
          onClick={() => say('reject')}
        >
          {t`Reject`}
        </Button>
      </div>
    </div>
  );
}
