/** Runs with the state of their journals: each verified on demand. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BadgeCheck, Download, FileSearch, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import type { Run, Verified } from '@/api/run-types';
import { runsQuery, verifyRun } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { Chip, StatusChip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { SearchField } from '@/components/SearchField';
import { showFailure } from '@/components/undo';
import { ndjson, saveText } from './search';

/** What was found out about journals since the page was opened. */
function useVerifying(projectId: string) {
  const [found, setFound] = useState<Record<string, Verified | 'pending'>>({});
  const verify = async (runs: Pick<Run, 'id'>[]) => {
    for (const { id } of runs) {
      setFound((before) => ({ ...before, [id]: 'pending' }));
      try {
        const verdict = await verifyRun(projectId, id);
        setFound((before) => ({ ...before, [id]: verdict }));
      } catch (error) {
        setFound(({ [id]: _failed, ...others }) => others);
        showFailure(error);
        return;
      }
    }
  };
  return { found, verify };
}

export function AuditRuns() {
  const project = useProject();
  const formats = useFormats();
  const nameOf = usePersonName(project.id);
  const [text, setText] = useState('');
  const query = useInfiniteQuery(
    runsQuery(project.id, { statuses: [], text, mine: false, byHand: true }),
  );
  const runs = itemsOf(query.data);
  const { found, verify } = useVerifying(project.id);
  const columns: Column<Run>[] = [
    {
      id: 'run',
      header: t`Run`,
      cell: (run) => (
        <Anchor component={Link} to={projectPath(project.id, 'runs', run.id)} size="sm">
          {run.title}
        </Anchor>
      ),
    },
    {
      id: 'status',
      header: t`Status`,
      width: '13rem',
      hideBelow: 'sm',
      cell: ({ status }) => <StatusChip status={status} />,
    },
    {
      id: 'who',
      header: t`Started by`,
      width: '10rem',
      hideBelow: 'md',
      cell: (run) => nameOf(run.created_by) ?? t`Somebody who left`,
    },
    {
      id: 'when',
      header: t`When`,
      width: '12rem',
      hideBelow: 'md',
      cell: (run) => <span className="tabular">{formats.dateTime(run.created_at)}</span>,
    },
    {
      id: 'journal',
      header: t`Journal`,
      width: '13rem',
      align: 'end',
      cell: (run) => (
        <Journal title={run.title} verdict={found[run.id]} onVerify={() => void verify([run])} />
      ),
    },
  ];
  return (
    <Stack>
      <Group gap="sm" align="center">
        <SearchField label={t`Search runs`} placeholder={t`Search titles`} onSearch={setText} />
        <Button
          variant="default"
          leftSection={<BadgeCheck size={14} aria-hidden />}
          disabled={runs.length === 0}
          onClick={() => void verify(runs)}
        >
          {t`Verify all shown`}
        </Button>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          disabled={runs.length === 0}
          onClick={() => saveText('runs.ndjson', ndjson(runs), 'application/x-ndjson')}
        >
          {t`Export as NDJSON`}
        </Button>
      </Group>
      <DataTable
        label={t`Journals of runs`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={FileSearch} title={t`No run fits`} />}
      />
    </Stack>
  );
}

interface JournalProps {
  title: string;
  verdict: Verified | 'pending' | undefined;
  onVerify: () => void;
}

function Journal({ title, verdict, onVerify }: JournalProps) {
  if (verdict === undefined || verdict === 'pending') {
    return (
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={t`Verify ${title}`}
        loading={verdict === 'pending'}
        onClick={onVerify}
      >
        {t`Verify`}
      </Button>
    );
  }
  if (verdict.intact && verdict.signing === 'signed') {
    return <Chip word={t`Verified`} icon={BadgeCheck} tone="good" />;
  }
  const word = verdict.intact ? t`Intact, not signed` : t`Not verified`;
  const [icon, tone] = verdict.intact
    ? ([BadgeCheck, 'neutral'] as const)
    : ([TriangleAlert, 'bad'] as const);
  return (
    <>
      <Chip word={word} icon={icon} tone={tone} />
      <Text size="xs">{verdict.sentence}</Text>
    </>
  );
}
