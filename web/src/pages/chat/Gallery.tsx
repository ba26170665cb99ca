/** Everything that a conversation produced: charts, tables, reports and files, with the step that made each. */
import { t } from '@lingui/core/macro';
import { Button, Drawer, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Images } from 'lucide-react';
import { useState } from 'react';
import type { Exhibit, ExhibitKind } from '@/api/chat-types';
import { itemsOf } from '@/api/lists';
import { exhibitsQuery } from '@/api/threads';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { ExhibitCard } from './ExhibitCard';
import classes from './gallery.module.css';

const KINDS = [
  { value: 'all', label: t`All` },
  { value: 'chart', label: t`Charts` },
  { value: 'table', label: t`Tables` },
  { value: 'report', label: t`Reports` },
  { value: 'file', label: t`Files` },
] satisfies { value: ExhibitKind | 'all'; label: string }[];

const NOTHING: Record<ExhibitKind | 'all', string> = {
  all: t`Nothing yet`,
  chart: t`No chart yet`,
  table: t`No table yet`,
  report: t`No report yet`,
  file: t`No file yet`,
};

interface Props {
  threadId: string;
  opened: boolean;
  onClose: () => void;
  /** Shows the call that made it. */
  onShow: (exhibit: Exhibit) => void;
}

export function Gallery({ threadId, opened, onClose, onShow }: Props) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="36rem"
      title={t`Results of this conversation`}
    >
      {opened && <Exhibits threadId={threadId} onShow={onShow} />}
    </Drawer>
  );
}

function Exhibits({ threadId, onShow }: Pick<Props, 'threadId' | 'onShow'>) {
  const project = useProject();
  const [kind, setKind] = useState<ExhibitKind | 'all'>('all');
  const query = useInfiniteQuery(exhibitsQuery(project.id, threadId, kind === 'all' ? null : kind));
  const exhibits = itemsOf(query.data);
  return (
    <Stack gap="sm">
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={t`Kind of result`}
        data={KINDS}
        value={kind}
        onChange={setKind}
      />
      {query.isPending && <Skeleton height={140} aria-busy />}
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.data && exhibits.length === 0 && !query.hasNextPage && (
        <EmptyState icon={Images} title={NOTHING[kind]}>
          {t`Charts, tables, reports and files that this conversation makes are collected here.`}
        </EmptyState>
      )}
      <ul className={classes.exhibits} aria-label={t`Results`}>
        {exhibits.map((exhibit) => (
          <li key={`${exhibit.run_id}/${exhibit.key}/${exhibit.digest ?? ''}/${exhibit.name}`}>
            <ExhibitCard exhibit={exhibit} threadId={threadId} onShow={() => onShow(exhibit)} />
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t`Show earlier results`}
        </Button>
      )}
    </Stack>
  );
}
