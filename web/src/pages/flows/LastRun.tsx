/** How the chosen step stands in the run that is shown: its state, what it waits for, what went wrong and what to do. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { inboxQuery } from '@/api/inbox';
import type { NodeStanding } from '@/api/runs';
import { useProject } from '@/app/project';
import { StateChip } from '@/components/Chip';
import { durationText } from '@/components/duration';
import { JsonTree } from '@/components/JsonTree';
import { cutOff } from '@/components/line-counts';
import { ValueDifference } from '@/components/ValueDifference';
import { askedIn } from '@/components/waiting/asked';
import { WaitingCard } from '@/components/waiting/WaitingCard';
import type { FlowNode } from '@/flows/graph';
import { usdText } from '../chat/cost';
import { NodeCalls } from './NodeCalls';
import { callPath, isOther, keyBelongsTo, standingText } from './standing';
import classes from './flows.module.css';

interface Props {
  runId: string | null;
  node: FlowNode;
  standing: NodeStanding | undefined;
  /** How it stood in the run that this one is compared with. */
  other: NodeStanding | undefined;
}

export function LastRun({ runId, node, standing, other }: Props) {
  const project = useProject();
  const isWaiting = standing?.state === 'waiting';
  const inbox = useQuery({ ...inboxQuery(project.id), enabled: isWaiting }).data ?? [];
  if (runId === null || !standing) return null;
  const waits = inbox.filter(({ run_id: of, key }) => of === runId && keyBelongsTo(key, node.key));
  const { state, times, failed, seconds, usd, tokens, error, sample } = standing;
  const cut = cutOff(standing);
  const facts = [
    times > 1 ? t`${times} times` : '',
    failed > 0 && times > 1 ? t`${failed} failed` : '',
    seconds > 0 ? durationText(seconds * 1000) : '',
    tokens > 0 ? t`${tokens.toLocaleString('en')} tokens` : '',
    Number(usd) > 0 ? usdText(usd) : '',
  ].filter(Boolean);
  return (
    <section className={classes.lastRun} aria-label={t`In this run`}>
      <Group gap="xs">
        <StateChip state={state} />
        <Text span size="xs" c="dimmed">
          {facts.join(' · ')}
        </Text>
        <Anchor component={Link} to={callPath(project.id, runId, standing.key)} size="xs">
          {t`Show its entries`}
        </Anchor>
      </Group>
      {error !== null && (
        <Alert color="red" variant="light" title={t`It did not work`}>
          <Text size="sm">{error.message}</Text>
          <Text size="sm" mt={4}>
            {t`Change the settings below, save and run it again. Under “Errors and order” you can have it tried again or go on after an error.`}
          </Text>
        </Alert>
      )}
      {cut !== null && (
        <Alert color="yellow" variant="light" title={t`Not all rows`}>
          <Text size="sm">
            {t`${cut} Later steps get only these rows. Raise “Most rows” below, or let SQL count or filter first.`}
          </Text>
        </Alert>
      )}
      {waits.map((waiting) => (
        <section key={waiting.key} aria-label={askedIn(waiting)}>
          <Text size="sm" fw={600}>
            {askedIn(waiting)}
          </Text>
          <WaitingCard waiting={waiting} hasKeys={false} />
        </section>
      ))}
      {isWaiting && waits.length === 0 && (
        <Text size="sm">{t`It waits for somebody else, or for its time.`}</Text>
      )}
      {times > 1 && <NodeCalls runId={runId} node={node.key} />}
      {sample !== null && sample !== undefined && (
        <details className={classes.more}>
          <summary>{t`What it gave`}</summary>
          <JsonTree label={t`Last output`} value={sample} openTo={2} />
        </details>
      )}
      {other && <OtherRun now={standing} other={other} />}
    </section>
  );
}

/** The same step in the run that this one is compared with. */
function OtherRun({ now, other }: { now: NodeStanding; other: NodeStanding }) {
  return (
    <section aria-label={t`In the other run`}>
      <Text size="sm" fw={600}>
        {t`In the other run`}
      </Text>
      <Group gap="xs">
        <StateChip state={other.state} />
        <Text span size="xs" c="dimmed">
          {standingText(other)}
        </Text>
      </Group>
      {other.error !== null && <Text size="sm">{other.error.message}</Text>}
      {isOther(now.sample, other.sample) ? (
        <ValueDifference label={t`Outputs`} before={other.sample} after={now.sample} />
      ) : (
        <Text size="sm">{t`The same output.`}</Text>
      )}
    </section>
  );
}
