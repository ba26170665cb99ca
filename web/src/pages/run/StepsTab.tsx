/** What waits for the reader, the flow, and the calls in the order in which they began. */
import { t } from '@lingui/core/macro';
import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { inboxQuery } from '@/api/inbox';
import type { Call, RunDetail } from '@/api/run-types';
import { actionsQuery, callsQuery } from '@/api/runs';
import { toolsQuery } from '@/api/tools';
import { useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Section } from '@/components/Section';
import { askedIn } from '@/components/waiting/asked';
import { WaitingCard } from '@/components/waiting/WaitingCard';
import { Artifacts } from './Artifacts';
import { CallItem } from './CallItem';
import { nodesWithin } from './flow-graph';
import { RunGraph } from './RunGraph';
import classes from './run.module.css';

export default function StepsTab({ run }: { run: RunDetail }) {
  return (
    <Stack gap="xl">
      <WaitsForMe run={run} />
      <Files run={run} />
      <RunGraph run={run} />
      <Timeline run={run} />
    </Stack>
  );
}

function WaitsForMe({ run }: { run: RunDetail }) {
  const project = useProject();
  const { data } = useQuery(inboxQuery(project.id));
  const mine = (data ?? []).filter(({ run_id }) => run_id === run.id);
  return mine.map((waiting) => (
    <Section
      key={waiting.key}
      title={askedIn(waiting)}
      description={t`The run waits for you.`}
      framed
    >
      <WaitingCard waiting={waiting} hasKeys={mine.length === 1} />
    </Section>
  ));
}

/** What the run made, without looking for the call that did. */
function Files({ run }: { run: RunDetail }) {
  const project = useProject();
  const calls = useQuery(callsQuery(project.id, run.id)).data ?? [];
  const made = calls.filter(({ undone }) => !undone).flatMap(({ artifacts }) => artifacts);
  if (made.length === 0) return null;
  return (
    <Section title={t`Files`}>
      <Artifacts runId={run.id} artifacts={made} />
    </Section>
  );
}

function Timeline({ run }: { run: RunDetail }) {
  const project = useProject();
  const calls = useQuery(callsQuery(project.id, run.id));
  const mayLook = useMay('viewer');
  const actions = useQuery({ ...actionsQuery(project.id, run.id), enabled: mayLook }).data ?? [];
  const tools = useQuery({ ...toolsQuery(project.id), enabled: mayLook }).data ?? [];
  if (calls.isError && !calls.data) {
    return <ErrorState error={calls.error} retry={() => void calls.refetch()} />;
  }
  if (!calls.data) return <Skeleton height={80} aria-busy />;
  const told = calls.data.filter(isTold);
  const steps = (run.document?.nodes ?? []).filter(({ type }) => type !== 'output');
  const isOnly = told.length === 1 && steps.length <= 1;
  if (told.length === 0) {
    return (
      <div className={classes.calls}>
        <EmptyState icon={Play} title={t`Nothing has been done yet`}>
          {t`Calls appear here as they begin.`}
        </EmptyState>
      </div>
    );
  }
  return (
    <Section title={t`Timeline`}>
      <ol className={classes.calls}>
        {told.map((call) => (
          <CallItem
            key={call.key}
            call={call}
            runId={run.id}
            title={titleOf(run, call.key, tools.find(({ name }) => name === call.tool)?.title)}
            action={actions.find(({ key }) => key === call.key)}
            isOnly={isOnly}
          />
        ))}
      </ol>
    </Section>
  );
}

/** When somebody was asked is a note for the clock of replays, and putting it to them a part of their call. */
function isTold({ key, tool }: Call): boolean {
  return tool !== null || !(key.endsWith(':asked') || /\/approval\/\w+\/request$/.test(key));
}

/** The node's own title, the tool's, or the key. */
function titleOf(run: RunDetail, key: string, tool: string | undefined): string {
  // Inside maps and loops, the path ends with the node that it is about.
  const id = key.slice(key.lastIndexOf('/') + 1);
  const node = nodesWithin(run.document?.nodes ?? []).find((each) => each.id === id);
  if (node?.title !== undefined && node.title !== '') return node.title;
  return tool ?? key;
}
