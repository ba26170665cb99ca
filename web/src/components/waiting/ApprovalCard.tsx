/** An approval: exactly what would happen, why somebody is asked, and what they can say. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Text } from '@mantine/core';
import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { Check, Pencil, UserRoundPlus, X } from 'lucide-react';
import { useState } from 'react';
import { useDecide, type Verdict } from '@/api/inbox';
import { usePersonName } from '@/api/members';
import type { Approval } from '@/api/run-types';
import { useMay, useProject } from '@/app/project';
import { ArgumentList } from '../ArgumentList';
import { CallPreviewView, DoubtList, ProvenanceView, RuleList } from '../CallFacts';
import { FormError } from '../FormError';
import { Hash } from '../Hash';
import { JsonTree } from '../JsonTree';
import { showDone } from '../undo';
import { DelegateForm, EditForm, RejectForm } from './ApprovalForms';
import { useAnswered } from './answering';
import { Details, Fact, KeyHint } from './Facts';
import { callKeyOf, openSendWindow } from './send-window';
import classes from './waiting.module.css';

export type Mode = 'decide' | 'reject' | 'edit' | 'delegate';

export function ApprovalCard({ approval, hasKeys }: { approval: Approval; hasKeys: boolean }) {
  const project = useProject();
  const decide = useDecide(project.id);
  const { send, isPending, error } = useAnswered();
  const [mode, setMode] = useState<Mode>('decide');
  const mayChange = useMay('viewer');

  const say = (verdict: Omit<Verdict, 'approvalId' | 'bodyHash'>) =>
    void send(
      () =>
        decide.mutateAsync({
          ...verdict,
          approvalId: approval.id,
          bodyHash: approval.body_hash,
        }),
      (decided) => {
        if (decided.status === 'edited') showDone(whoIsAsked(decided.approvers));
        else if (verdict.approve && approval.risk === 'external_send') {
          const { run_id: runId, wait_key: waitKey } = approval;
          const { title } = decided;
          openSendWindow({ projectId: project.id, runId, key: callKeyOf(waitKey), title });
        } else showDone(verdict.approve ? t`Approved` : t`Rejected`);
      },
    );
  const approve = () => say({ approve: true });
  const keys = hasKeys && mode === 'decide' && !isPending;
  useHotkeys(
    keys
      ? [
          ['a', approve],
          ['r', () => setMode('reject')],
          ...(mayChange ? [['e', () => setMode('edit')] satisfies HotkeyItem] : []),
        ]
      : [],
  );
  const back = () => setMode('decide');
  return (
    <div className={classes.card}>
      <ApprovalFacts approval={approval} />
      <FormError error={error} />
      {mode === 'decide' && (
        <Choices
          approval={approval}
          isPending={isPending}
          hasKeys={hasKeys}
          onApprove={(extent) => say({ approve: true, extent })}
          onMode={setMode}
        />
      )}
      {mode === 'reject' && (
        <RejectForm
          isPending={isPending}
          onReject={(reason) => say({ approve: false, reason })}
          onBack={back}
        />
      )}
      {mode === 'edit' && (
        <EditForm
          approval={approval}
          isPending={isPending}
          error={error}
          onApprove={(edited) => say({ approve: true, edited })}
          onBack={back}
        />
      )}
      {mode === 'delegate' && <DelegateForm approval={approval} onBack={back} />}
    </div>
  );
}

/** After an edit that its editor may not approve. */
function whoIsAsked(approvers: readonly string[]): string {
  return approvers.length > 0
    ? t`Edited. Needs approval by ${approvers.join(', ')}`
    : t`Edited. Someone else must approve it`;
}

function ApprovalFacts({ approval }: { approval: Approval }) {
  const { body, preview, provenance, rules, reason, approvers, body_hash, batch } = approval;
  const nameOf = usePersonName(useProject().id);
  const named = (id: string) => nameOf(id) ?? t`a former member`;
  const doubts = provenance?.doubts ?? [];
  return (
    <>
      {preview && preview.summary !== approval.title && (
        <Fact title={t`What will happen`}>
          <Text fw={600}>{preview.summary}</Text>
        </Fact>
      )}
      {doubts.length > 0 && (
        <Alert color="orange" variant="light" title={t`Look at this before you decide`}>
          <DoubtList doubts={doubts} />
        </Alert>
      )}
      {provenance && !provenance.trusted && (
        <Alert color="red" variant="light" title={t`Untrusted content`}>
          <ProvenanceView provenance={provenance} />
        </Alert>
      )}
      {preview && <CallPreviewView preview={{ ...preview, summary: '' }} />}
      {body.roles && (
        <Fact title={t`What it is given`}>
          <ArgumentList arguments={body.arguments} roles={body.roles} />
        </Fact>
      )}
      <Fact title={t`Why you are asked`}>
        <Text size="sm">{reason}</Text>
        {approvers.length > 0 && (
          <Text size="sm">{t`One of these can approve: ${approvers.join(', ')}`}</Text>
        )}
        {approval.four_eyes && (
          <Text size="sm">
            {t`Someone other than ${approval.askers.map(named).join(t` and `)} must approve.`}
          </Text>
        )}
      </Fact>
      {batch.length > 0 && (
        <Fact title={t`A batch of ${batch.length} payloads`}>
          <JsonTree label={t`Batch`} value={batch} openTo={1} />
        </Fact>
      )}
      <Details>
        <Fact title={t`Exact payload`}>
          <JsonTree label={t`Exact payload`} value={body} />
        </Fact>
        {approval.edited_by !== null && (
          <Fact title={t`Edited by ${named(approval.edited_by)}. Before the edit`}>
            <JsonTree label={t`Payload before the edit`} value={approval.asked_body} />
          </Fact>
        )}
        <Fact title={t`Rules that apply`}>
          <RuleList rules={rules} />
        </Fact>
        {provenance?.trusted && (
          <Fact title={t`Where the values come from`}>
            <ProvenanceView provenance={provenance} />
          </Fact>
        )}
        <Fact title={t`Hash of what you approve`}>
          <div>
            <Hash label={t`Hash`} value={body_hash} />
          </div>
        </Fact>
      </Details>
    </>
  );
}

interface ChoicesProps {
  approval: Approval;
  isPending: boolean;
  hasKeys: boolean;
  onApprove: (extent: 'single' | 'session') => void;
  onMode: (mode: Mode) => void;
}

function Choices({ approval, isPending, hasKeys, onApprove, onMode }: ChoicesProps) {
  const isBatch = approval.batch.length > 0;
  // A runner takes the call as it is and knows nobody to ask instead.
  const mayChange = useMay('viewer');
  const mayCoverRun = !isBatch && approval.provenance?.trusted !== false;
  const key = (letter: string) => hasKeys && <KeyHint letter={letter} />;
  return (
    <div className={classes.actions}>
      <Button
        leftSection={<Check size={14} aria-hidden />}
        rightSection={key('A')}
        loading={isPending}
        onClick={() => onApprove('single')}
      >
        {isBatch ? t`Approve the batch` : t`Approve once`}
      </Button>
      <Button
        variant="light"
        color="red"
        leftSection={<X size={14} aria-hidden />}
        rightSection={key('R')}
        disabled={isPending}
        onClick={() => onMode('reject')}
      >
        {t`Reject`}
      </Button>
      {mayCoverRun && (
        <Button
          variant="default"
          disabled={isPending}
          title={t`Also covers further calls of this tool to the same place in this run`}
          onClick={() => onApprove('session')}
        >
          {t`Approve for this session`}
        </Button>
      )}
      {!isBatch && mayChange && (
        <Button
          variant="default"
          leftSection={<Pencil size={14} aria-hidden />}
          rightSection={key('E')}
          disabled={isPending}
          onClick={() => onMode('edit')}
        >
          {t`Edit`}
        </Button>
      )}
      {mayChange && (
        <Button
          variant="default"
          leftSection={<UserRoundPlus size={14} aria-hidden />}
          disabled={isPending}
          onClick={() => onMode('delegate')}
        >
          {t`Delegate`}
        </Button>
      )}
    </div>
  );
}
