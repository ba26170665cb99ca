/** Everything about a call: asked, decided, previewed, approved, done. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { usePersonName } from '@/api/members';
import type { Call, CallWait } from '@/api/run-types';
import { useProject } from '@/app/project';
import { CallPreviewView, DoubtList, ProvenanceView, RuleList } from '@/components/CallFacts';
import { useFormats } from '@/components/format';
import { Hash } from '@/components/Hash';
import { JsonTree } from '@/components/JsonTree';
import { codeText } from '@/components/operation-name';
import { ValueView } from '@/components/ValueView';
import { Fact } from '@/components/waiting/Facts';
import { Artifacts } from './Artifacts';
import { OUTCOMES } from './outcomes';
import { amountText } from './RunState';
import classes from './run.module.css';

const VegaChart = lazy(() => import('@/pages/dataset/charts/VegaChart'));

export function CallDetails({ call, runId }: { call: Call; runId: string }) {
  const { error, preview, decision, provenance, artifacts, value } = call;
  return (
    <>
      {error && (
        <Alert color="red" variant="light" title={codeText(error.code)}>
          {error.message}
        </Alert>
      )}
      <Answers call={call} />
      {value !== null && value !== undefined && (
        <Fact title={t`Result`}>
          <Result value={value} />
        </Fact>
      )}
      {artifacts.length > 0 && (
        <Fact title={t`Files it made`}>
          <Artifacts runId={runId} artifacts={artifacts} />
        </Fact>
      )}
      {preview && (
        <Fact title={call.ended_at === null ? t`What would happen` : t`Preview before it was done`}>
          <CallPreviewView preview={preview} />
        </Fact>
      )}
      <div className={classes.columns}>
        {call.arguments !== null && call.arguments !== undefined && (
          <Fact title={t`Arguments`}>
            <JsonTree label={t`Arguments`} value={call.arguments} />
          </Fact>
        )}
        {decision && (
          <Fact title={t`Decision`}>
            <Text size="sm" fw={500}>
              {OUTCOMES[decision.outcome] ?? decision.outcome}
            </Text>
            <RuleList rules={decision.rules} />
          </Fact>
        )}
        {provenance?.doubts && provenance.doubts.length > 0 && (
          <Fact title={t`What was doubtful`}>
            <DoubtList doubts={provenance.doubts} />
          </Fact>
        )}
        {provenance && (
          <Fact title={t`Where the values come from`}>
            <ProvenanceView provenance={provenance} />
          </Fact>
        )}
        <Cost call={call} />
      </div>
    </>
  );
}

/** A chart is drawn; what it is made of can be had as a file. */
function Result({ value }: { value: unknown }) {
  const chart = chartIn(value);
  if (!chart) return <ValueView label={t`Result`} value={value} />;
  return (
    <Suspense fallback={<Skeleton height={240} />}>
      <VegaChart spec={chart.spec} description={chart.description} onDrawn={ignore} />
    </Suspense>
  );
}

const ignore = () => undefined;

function chartIn(value: unknown): { spec: Record<string, unknown>; description: string } | null {
  if (typeof value !== 'object' || value === null || !('spec' in value)) return null;
  const { spec } = value;
  if (typeof spec !== 'object' || spec === null || !('$schema' in spec)) return null;
  const about = 'description' in value ? value.description : '';
  return { spec: spec, description: String(about) };
}

const DECISIONS: Record<string, string> = { approved: t`Approved`, edited: t`Edited` };

/** Who approved, refused or answered, and when. */
function Answers({ call: { approvals, waits } }: { call: Call }) {
  const project = useProject();
  const formats = useFormats();
  const nameOf = usePersonName(project.id);
  const others = waits.filter(({ answer }) => answer && !('approval_id' in answer));
  if (approvals.length === 0 && others.length === 0) return null;
  return (
    <Fact title={t`People`}>
      {approvals.map((answer) => (
        <div key={answer.approval_id}>
          <Text size="sm">
            <Trans>
              {DECISIONS[answer.decision] ?? t`Rejected`}
              {answer.edited && answer.decision === 'approved' && t` with changes`} by{' '}
              {nameOf(answer.by) ?? t`somebody who left`}, {formats.dateTime(answer.at)}
              {answer.reason !== '' && `: ${answer.reason}`}
            </Trans>
          </Text>
          <Hash label={t`Hash of what was approved`} value={answer.body_hash} />
        </div>
      ))}
      {others.map((wait) => (
        <Text key={wait.key} size="sm">
          {answerText(wait, (id) => nameOf(id) ?? t`somebody who left`)}
          {wait.answered_at !== undefined && `, ${formats.dateTime(wait.answered_at)}`}
        </Text>
      ))}
    </Fact>
  );
}

function answerText({ answer = {}, request }: CallWait, nameOf: (id: string) => string): string {
  if (answer.expired === true) {
    return request.kind === 'undo_window' ? t`No one took it back in time` : t`No one answered`;
  }
  const by = typeof answer.by === 'string' ? t` by ${nameOf(answer.by)}` : '';
  const words: Record<string, string> = {
    approve: t`Approved`,
    reject: t`Rejected`,
    raise: t`Continued`,
    abort: t`Aborted`,
    undone: t`Taken back`,
  };
  const decision = typeof answer.decision === 'string' ? answer.decision : null;
  if (decision === null) return t`Answered${by}`;
  const reason =
    typeof answer.reason === 'string' && answer.reason !== '' ? `: ${answer.reason}` : '';
  return `${words[decision] ?? decision.replaceAll('_', ' ')}${by}${reason}`;
}

function Cost({ call: { cost, retries } }: { call: Call }) {
  const formats = useFormats();
  const amounts = Object.entries(cost ?? {}).filter(([, amount]) => Number(amount) > 0);
  if (amounts.length === 0 && retries === 0) return null;
  return (
    <Fact title={t`Used`}>
      <Text size="sm">
        {amounts
          .map(([name, amount]) => {
            const text = amountText(name, String(amount), formats);
            return name === 'rows' || name === 'tokens' ? `${text} ${name}` : text;
          })
          .join(' · ')}
      </Text>
      {retries > 0 && (
        <Text size="sm" c="dimmed">
          {t`Tried again ${retries} times`}
        </Text>
      )}
    </Fact>
  );
}
