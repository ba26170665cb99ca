/** A plan of a chat that somebody lets run or not; to change it, people go to the chat. */
import { Button, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Check, X } from 'lucide-react';
import { useAnswer } from '@/api/inbox';
import { useProject } from '@/app/project';
import { FormError } from '../FormError';
import { showDone } from '../undo';
import { useAnswered } from './answering';
import { Fact, KeyHint } from './Facts';
import type { CardProps } from './QuestionCard';
import classes from './waiting.module.css';

export function PlanCard({ waiting, request, hasKeys }: CardProps) {
  const project = useProject();
  const answer = useAnswer(project.id);
  const { send, isPending, error } = useAnswered();
  const say = (decision: 'approve' | 'reject', done: string) =>
    void send(
      () => answer.mutateAsync({ runId: waiting.run_id, key: waiting.key, answer: { decision } }),
      () => showDone(done),
    );
  const approve = () => say('approve', 'The plan runs');
  const reject = () => say('reject', 'The plan does not run');
  useHotkeys(
    hasKeys && !isPending
      ? [
          ['a', approve],
          ['r', reject],
        ]
      : [],
  );
  return (
    <div className={classes.card}>
      {request.reason && <Text size="sm">{request.reason}</Text>}
      <Fact title="Steps">
        <ol className={classes.steps}>
          {(request.plan?.steps ?? []).map((step) => (
            <li key={step.id}>
              {step.title}
              <Text span size="xs" c="dimmed">
                {` · ${step.agent} · ${step.tools.join(', ') || 'no tools'}`}
              </Text>
            </li>
          ))}
        </ol>
      </Fact>
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          leftSection={<Check size={14} aria-hidden />}
          rightSection={hasKeys && <KeyHint letter="A" />}
          loading={isPending}
          onClick={approve}
        >
          Let it run
        </Button>
        <Button
          variant="light"
          color="red"
          leftSection={<X size={14} aria-hidden />}
          rightSection={hasKeys && <KeyHint letter="R" />}
          disabled={isPending}
          onClick={reject}
        >
          Reject
        </Button>
      </div>
    </div>
  );
}
