/** Runs as a table: status, how far, who, when, how long, what it cost. */
import { t } from '@lingui/core/macro';
import { Anchor, Progress, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePersonName } from '@/api/members';
import type { ListedRun } from '@/api/run-types';
import { type RunFilter, runsQuery } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { dollars } from '@/components/amounts';
import { StatusChip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { Elapsed } from '@/components/Elapsed';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { percentOf, reasonText } from '@/components/run-status';
import classes from './runs.module.css';

export function RunTable({ filter, start }: { filter: RunFilter; start: ReactNode }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const formats = useFormats();
  const query = useInfiniteQuery(runsQuery(project.id, filter));
  const isFiltered =
    filter.statuses.length > 0 ||
    filter.text !== '' ||
    filter.mine ||
    Object.keys(filter.counted ?? {}).length > 0;
  const columns: Column<ListedRun>[] = [
    {
      id: 'run',
      header: t`Run`,
      cell: (run) => <RunLink run={run} projectId={project.id} />,
    },
    {
      id: 'status',
      header: t`Status`,
      width: '11.5rem',
      cell: (run) => <StatusChip status={run.status} title={reasonText(run.reason) ?? undefined} />,
    },
    {
      id: 'progress',
      header: t`Progress`,
      width: '8rem',
      hideBelow: 'sm',
      cell: (run) => <RunProgress run={run} />,
    },
    {
      id: 'who',
      header: t`Who`,
      width: '7rem',
      hideBelow: 'md',
      cell: (run) => nameOf(run.created_by) ?? t`Somebody who left`,
    },
    {
      id: 'when',
      header: t`When`,
      width: '8rem',
      hideBelow: 'md',
      cell: (run) => <RelativeTime value={run.created_at} />,
    },
    {
      id: 'duration',
      header: t`Took`,
      width: '6rem',
      align: 'end',
      hideBelow: 'sm',
      cell: (run) =>
        run.started_at === null ? '–' : <Elapsed start={run.started_at} end={run.ended_at} />,
    },
    {
      id: 'cost',
      header: t`Cost`,
      width: '6rem',
      align: 'end',
      hideBelow: 'sm',
      cell: ({ cost_usd: cost }) =>
        cost === null ? '–' : <span className="tabular">{dollars(formats, cost)}</span>,
    },
  ];
  return (
    <DataTable
      label={t`Runs`}
      columns={columns}
      query={query}
      rowKey={(run) => run.id}
      empty={
        isFiltered ? (
          <EmptyState icon={SearchX} title={t`No run fits`}>
            {t`Try another word or status.`}
          </EmptyState>
        ) : (
          <EmptyState icon={Play} picture="list" title={t`No runs yet`} action={start}>
            {t`A run calls a tool, or a whole flow of them. Each step is previewed, decided by policy, written into a journal that cannot be altered unnoticed, and can be undone.`}
          </EmptyState>
        )
      }
    />
  );
}

function RunLink({ run, projectId }: { run: ListedRun; projectId: string }) {
  return (
    <div className={classes.run}>
      <Anchor
        component={Link}
        to={projectPath(projectId, 'runs', run.id)}
        className="row-link"
        fw={500}
        size="sm"
        c="inherit"
        underline="never"
        lineClamp={2}
        title={run.title}
      >
        {run.title}
      </Anchor>
      {run.reason !== null && (
        <Text size="xs" c="dimmed" lineClamp={1} title={run.reason}>
          {reasonText(run.reason)}
        </Text>
      )}
    </div>
  );
}

function RunProgress({ run }: { run: ListedRun }) {
  const percent = percentOf(run.progress);
  if (percent === null) return '–';
  return (
    <div className={classes.progress}>
      <Progress
        value={percent}
        size="sm"
        color={run.status === 'failed' ? 'red' : 'steward'}
        aria-label={t`${percent} per cent of ${run.title}`}
      />
      <span className="tabular">{percent} %</span>
    </div>
  );
}
