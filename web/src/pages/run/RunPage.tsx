/** One run: how it stands, what it did call by call, its log, what went in and came out, its dossier and its journal. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { usePersonName } from '@/api/members';
import type { RunDetail } from '@/api/run-types';
import { isFinal, runQuery } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { Elapsed } from '@/components/Elapsed';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { SendBanner } from '@/components/waiting/SendBanner';
import { CanvasLink } from './CanvasLink';
import { RunControls } from './RunControls';
import { RunState } from './RunState';
import { TakenBack } from './TakeBack';
import { useRunStream } from './use-run-stream';

const StepsTab = lazy(() => import('./StepsTab'));
const LogTab = lazy(() => import('./LogTab'));
const ValuesTab = lazy(() => import('./ValuesTab'));
const DossierTab = lazy(() => import('./DossierTab'));
const TraceTab = lazy(() => import('./trace/TraceTab'));
const JournalTab = lazy(() => import('./JournalTab'));

const TABS = [
  { id: 'steps', label: t`Steps` },
  { id: 'trace', label: t`Trace` },
  { id: 'log', label: t`Log` },
  { id: 'values', label: t`Inputs and outputs` },
  { id: 'dossier', label: t`Dossier` },
  { id: 'journal', label: t`Journal` },
];

/** A runner sees how their run stands and what it made; its record is for those who look after it. */
const FOR_RUNNERS = new Set(['steps', 'log', 'values']);

export default function RunPage() {
  const runId = usePathParam('runId') ?? '';
  // Another run starts with a page of its own: with no entries and no findings.
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { runId: string }) {
  const project = useProject();
  const query = useQuery(runQuery(project.id, runId));
  const navigate = useNavigate();
  const [wanted] = useSearchParam('tab');
  const shown = TABS.filter(({ id }) => project.role !== 'runner' || FOR_RUNNERS.has(id));
  const tab = shown.some(({ id }) => id === wanted) ? (wanted ?? 'steps') : 'steps';
  const run = query.data;
  const isLive = run !== undefined && (!isFinal(run.status) || tab === 'log');
  const log = useRunStream(project.id, runId, isLive);
  const open = (id: string | null) =>
    void navigate({ to: '.', search: id === 'steps' || id === null ? {} : { tab: id } });
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Page
        title={run?.title ?? t`Run`}
        width="full"
        parent={{ label: t`Runs`, to: projectPath(project.id, 'runs') }}
        description={run && <Facts run={run} projectId={project.id} />}
        actions={run && <RunControls run={run} />}
        toolbar={
          <>
            {run && <RunState run={run} />}
            <TabStrip tabs={shown} value={tab} />
          </>
        }
      >
        <SendBanner />
        {run && <TakenBack run={run} />}
        {query.isError && !run && (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <LoadingLines />}
        {run && (
          <Suspense fallback={<LoadingLines />}>
            <Tabs.Panel value="steps">
              <StepsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="trace">
              <TraceTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="log">
              <LogTab log={log} />
            </Tabs.Panel>
            <Tabs.Panel value="values">
              <ValuesTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="dossier">
              <DossierTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="journal">
              <JournalTab run={run} />
            </Tabs.Panel>
          </Suspense>
        )}
      </Page>
    </Tabs>
  );
}

function Facts({ run, projectId }: { run: RunDetail; projectId: string }) {
  const nameOf = usePersonName(projectId);
  const toRun = (id: string, label: string) => (
    <Anchor component={Link} to={projectPath(projectId, 'runs', id)} inherit>
      {label}
    </Anchor>
  );
  return (
    <>
      <Trans>
        Started <RelativeTime value={run.created_at} /> by{' '}
        {nameOf(run.created_by) ?? t`somebody who left`}
        {run.started_at !== null && (
          <>
            {' · '}
            {run.ended_at === null ? t`for ` : t`took `}
            <Elapsed start={run.started_at} end={run.ended_at} />
          </>
        )}
        {typeof run.grant.branch === 'string' && t` · on branch ${run.grant.branch}`}
      </Trans>
      {run.forked_from !== null && (
        <>
          {' '}
          <Trans>· forked from {toRun(run.forked_from, t`another run`)}</Trans>
        </>
      )}
      {run.parent_id !== null && (
        <>
          {' '}
          <Trans>· part of {toRun(run.parent_id, t`another run`)}</Trans>
        </>
      )}
      <CanvasLink run={run} before=" · " />
    </>
  );
}
