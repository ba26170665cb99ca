/** Decisions of other kinds: gates of flows, and effects that may or may not have happened. */
import { t } from '@lingui/core/macro';
import { Button, Loader, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { FormError } from '../FormError';
import { Hash } from '../Hash';
import { ValueView } from '../ValueView';
import { RejectForm } from './ApprovalForms';
import { useDecision } from './answering';
import { DecisionButtons } from './DecisionButtons';
import { Details, Fact } from './Facts';
import type { CardProps } from './QuestionCard';
import { type Edited, VIEWS } from './views';
import classes from './waiting.module.css';

export function GateCard({ waiting, request, hasKeys }: CardProps) {
  const { say, isPending, error } = useDecision(waiting);
  const [isRejecting, setRejecting] = useState(false);
  const [edited, setEdited] = useState<Edited>({ isReady: true });
  const { body_hash: bodyHash = '', payload, shown } = request;
  const View = VIEWS[request.view ?? ''];
  const approve = () => {
    const changed = 'payload' in edited ? { payload: edited.payload } : {};
    say({ decision: 'approve', body_hash: bodyHash, ...changed }, t`Approved`);
  };
  return (
    <div className={classes.card}>
      {View ? (
        <Suspense fallback={<Loader size="sm" role="status" aria-label={t`Loading`} />}>
          <View waiting={waiting} request={request} onEdit={setEdited} />
        </Suspense>
      ) : (
        <>
          {shown !== null && shown !== undefined && (
            <Fact title={t`What to look at`}>
              <ValueView label={t`What to look at`} value={shown} />
            </Fact>
          )}
          {payload !== null && payload !== undefined && (
            <Fact title={t`Exact payload`}>
              <ValueView label={t`Exact payload`} value={payload} />
            </Fact>
          )}
        </>
      )}
      <Details>
        <Fact
          title={
            'payload' in edited
              ? t`Hash of what was asked; you approve it with your changes`
              : t`Hash of what you approve`
          }
        >
          <div>
            <Hash label={t`Hash`} value={bodyHash} />
          </div>
        </Fact>
      </Details>
      <FormError error={error} />
      {isRejecting ? (
        <RejectForm
          isPending={isPending}
          onReject={(reason) =>
            say({ decision: 'reject', body_hash: bodyHash, reason }, t`Rejected`)
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

export function UncertainCard({ waiting, request }: CardProps) {
  const { say, isPending, error } = useDecision(waiting);
  return (
    <div className={classes.card}>
      <Text size="sm">
        {t`Steward was interrupted while it did this and cannot find out by itself whether it happened. Look at the other side, then say what you found.`}
      </Text>
      <Fact title={t`What was to be done`}>
        <ValueView label={t`What was to be done`} value={request.request} />
      </Fact>
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          loading={isPending}
          onClick={() => say({ decision: 'happened' }, t`Noted: it happened`)}
        >
          {t`It happened`}
        </Button>
        <Button
          variant="default"
          disabled={isPending}
          onClick={() => say({ decision: 'retry' }, t`It is tried again`)}
        >
          {t`It did not: try again`}
        </Button>
        <Button
          variant="light"
          color="red"
          disabled={isPending}
          onClick={() => say({ decision: 'give_up' }, t`Given up`)}
        >
          {t`Give up`}
        </Button>
      </div>
    </div>
  );
}
