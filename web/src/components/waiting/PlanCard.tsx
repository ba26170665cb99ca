/** A plan of a chat that somebody lets run or not; to change it, people go to the chat. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { useAnswer } from '@/api/inbox';
import { useProject } from '@/app/project';
import { FormError } from '../FormError';
import { showDone } from '../undo';
import { useAnswered } from './answering';
import { DecisionButtons } from './DecisionButtons';
import { Fact } from './Facts';
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
  return (
    <div className={classes.card}>
      {request.reason && <Text size="sm">{request.reason}</Text>}
      <Fact title={t`Steps`}>
        <ol className={classes.steps}>
          {(request.plan?.steps ?? []).map((step) => (
            <li key={step.id}>
              {step.title}
              <Text span size="xs" c="dimmed">
                {` · ${step.agent} · ${step.tools.join(', ') || t`no tools`}`}
              </Text>
            </li>
          ))}
        </ol>
      </Fact>
      <FormError error={error} />
      <DecisionButtons
        approve={t`Let it run`}
        hasKeys={hasKeys}
        isPending={isPending}
        onApprove={() => say('approve', t`The plan runs`)}
        onReject={() => say('reject', t`The plan does not run`)}
      />
    </div>
  );
}
