/** What ran of a playbook, newest first, each with the revision it was started with. */
import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { usePersonName } from '@/api/members';
import { type PlaybookDetail, type PlaybookRun, playbookRunsQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { StatusChip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';

export default function PastRunsTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const query = useInfiniteQuery(playbookRunsQuery(project.id, playbook.id));
  const columns: Column<PlaybookRun>[] = [
    {
      id: 'when',
      header: t`Started`,
      cell: (run) => (
        <Anchor
          component={Link}
          to={projectPath(project.id, 'runs', run.id)}
          className="row-link"
          size="sm"
          c="inherit"
          underline="never"
        >
          <RelativeTime value={run.created_at} />
        </Anchor>
      ),
    },
    {
      id: 'status',
      header: t`Status`,
      width: '13rem',
      cell: (run) => <StatusChip status={run.status} title={run.reason ?? undefined} />,
    },
    {
      id: 'revision',
      header: t`Revision`,
      width: '7rem',
      hideBelow: 'sm',
      cell: (run) => run.revision ?? '–',
    },
    {
      id: 'who',
      header: t`By`,
      width: '12rem',
      hideBelow: 'md',
      cell: (run) => nameOf(run.created_by) ?? t`Somebody who left`,
    },
  ];
  return (
    <DataTable
      label={t`Runs of this playbook`}
      columns={columns}
      query={query}
      rowKey={(run) => run.id}
      empty={
        <EmptyState icon={Play} title={t`It has not run yet`}>
          {t`Fill in the form under Run.`}
        </EmptyState>
      }
    />
  );
}
