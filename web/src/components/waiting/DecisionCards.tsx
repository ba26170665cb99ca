/** Decisions of other kinds: gates of flows, budgets that do not suffice, effects nobody is sure about. */
import { Button, Loader, NumberInput, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useAnswer } from '@/api/inbox';
import { useProject } from '@/app/project';
import { FormError } from '../FormError';
import { Hash } from '../Hash';
import { showDone } from '../undo';
import { ValueView } from '../ValueView';
import { RejectForm } from './ApprovalForms';
import { useAnswered } from './answering';
import { DecisionButtons } from './DecisionButtons';
import { Fact } from './Facts';
import type { CardProps } from './QuestionCard';
import { type Edited, VIEWS } from './views';
import classes from './waiting.module.css';

function useDecision({ run_id: runId, key }: CardProps['waiting']) {
  const project = useProject();
  const answer = useAnswer(project.id);
  const { send, isPending, error } = useAnswered();
  const say = (given: Record<string, unknown>, done: string) =>
    void send(
      () => answer.mutateAsync({ runId, key, answer: given }),
      () => showDone(done),
    );
  return { say, isPending, error };
}

export function GateCard({ waiting, request, hasKeys }: CardProps) {
  const { say, isPending, error } = useDecision(waiting);
  const [isRejecting, setRejecting] = useState(false);
  const [edited, setEdited] = useState<Edited>({ isReady: true });
  const { body_hash: bodyHash = '', payload, shown } = request;
  const View = VIEWS[request.view ?? ''];
  const approve = () => {
    const changed = 'payload' in edited ? { payload: edited.payload } : {};
    say({ decision: 'approve', body_hash: bodyHash, ...changed }, 'Approved');
  };
  return (
    <div className={classes.card}>
      {View ? (
        <Suspense fallback={<Loader size="sm" aria-label="Loading" />}>
          <View waiting={waiting} request={request} onEdit={setEdited} />
        </Suspense>
      ) : (
        <>
          {shown !== null && shown !== undefined && (
            <Fact title="What to look at">
              <ValueView label="What to look at" value={shown} />
            </Fact>
          )}
          {payload !== null && payload !== undefined && (
            <Fact title="Exact payload">
              <ValueView label="Exact payload" value={payload} />
            </Fact>
          )}
        </>
      )}
      <Fact
        title={
          'payload' in edited
            ? 'Hash of what was asked; you approve it with your changes'
            : 'Hash of what you approve'
        }
      >
        <div>
          <Hash label="Hash" value={bodyHash} />
        </div>
      </Fact>
      <FormError error={error} />
      {isRejecting ? (
        <RejectForm
          isPending={isPending}
          onReject={(reason) =>
            say({ decision: 'reject', body_hash: bodyHash, reason }, 'Rejected')
          }
          onBack={() => setRejecting(false)}
        />
      ) : (
        <DecisionButtons
          hasKeys={hasKeys}
          isPending={isPending}
          isReady={edited.isReady}
          onApprove={approve}
          onReject={() => setRejecting(true)}
        />
      )}
    </div>
  );
}

type Breach = NonNullable<CardProps['request']['breach']>;

const UNITS: Record<string, string> = {
  usd: 'US dollars',
  tokens: 'tokens',
  seconds: 'seconds',
  rows: 'rows',
  bytes: 'bytes',
};

/** How it stands; a call whose need is not known beforehand asks for nothing. */
function budgetText({ total, left, asked, parts, message }: Breach, unit: string): string {
  if (parts !== undefined) return message;
  const rest = Number(left) > 0 ? `${left} of them are left` : 'and all of them are used up';
  const need = Number(asked) > 0 ? `; the next call may need ${asked}` : '';
  return `The limit is ${total} ${unit}, ${rest}${need}. Raise it to go on, or abort what is under way.`;
}

export function BudgetCard({ waiting, request }: CardProps) {
  const { say, isPending, error } = useDecision(waiting);
  const { breach } = request;
  const total = Number(breach?.total ?? 0);
  // A call that may need nothing is stopped when all is used up: as much again is offered then.
  const more = Number(breach?.asked ?? 0) || total || 1;
  const [limit, setLimit] = useState<number | string>(total + more);
  if (!breach) return null;
  if (breach.budget_id !== undefined)
    return (
      <div className={classes.card}>
        <Text size="sm">{breach.message} The run goes on by itself then.</Text>
        <FormError error={error} />
        <div className={classes.actions}>
          <Button
            loading={isPending}
            onClick={() => say({ decision: 'raise' }, 'The call is tried again')}
          >
            Try again
          </Button>
          <AbortButton isPending={isPending} say={say} />
        </div>
      </div>
    );
  const unit = UNITS[breach.limit] ?? breach.limit;
  const raise = () =>
    say({ decision: 'raise', limits: { [breach.limit]: String(limit) } }, 'Budget raised');
  return (
    <div className={classes.card}>
      <NumberInput
        label={`New limit in ${unit}`}
        description={budgetText(breach, unit)}
        value={limit}
        min={total}
        maw="20rem"
        onChange={setLimit}
      />
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          loading={isPending}
          disabled={typeof limit !== 'number' || limit <= total}
          onClick={raise}
        >
          Raise the limit
        </Button>
        <AbortButton isPending={isPending} say={say} />
      </div>
    </div>
  );
}

function AbortButton({
  isPending,
  say,
}: Pick<ReturnType<typeof useDecision>, 'isPending' | 'say'>) {
  return (
    <Button
      variant="light"
      color="red"
      disabled={isPending}
      onClick={() => say({ decision: 'abort' }, 'The call was given up')}
    >
      Abort
    </Button>
  );
}

export function UncertainCard({ waiting, request }: CardProps) {
  const { say, isPending, error } = useDecision(waiting);
  return (
    <div className={classes.card}>
      <Text size="sm">
        Steward was interrupted while it did this and cannot find out by itself whether it happened.
        Look at the other side, then say what you found.
      </Text>
      <Fact title="What was to be done">
        <ValueView label="What was to be done" value={request.request} />
      </Fact>
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          loading={isPending}
          onClick={() => say({ decision: 'happened' }, 'Noted: it happened')}
        >
          It happened
        </Button>
        <Button
          variant="default"
          disabled={isPending}
          onClick={() => say({ decision: 'retry' }, 'It is tried again')}
        >
          It did not: try again
        </Button>
        <Button
          variant="light"
          color="red"
          disabled={isPending}
          onClick={() => say({ decision: 'give_up' }, 'Given up')}
        >
          Give up
        </Button>
      </div>
    </div>
  );
}
