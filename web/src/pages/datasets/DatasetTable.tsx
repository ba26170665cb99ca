/** Datasets as a table; a whole row opens its dataset. */
import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Dataset } from '@/api/data-types';
import { usePersonName } from '@/api/members';
import type { ListPage } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { operationName } from '@/components/operation-name';

interface Props {
  projectId: string;
  query: UseInfiniteQueryResult<InfiniteData<ListPage<Dataset>>>;
  /** What to do when there are none. */
  begin?: ReactNode;
  /** Beside other content there is room for less. */
  compact?: boolean;
}

export function DatasetTable({ projectId, query, begin, compact = false }: Props) {
  const formats = useFormats();
  const nameOf = usePersonName(projectId);
  const number = (value: number) => <span className="tabular">{formats.number(value)}</span>;
  const columns: Column<Dataset>[] = [
    {
      id: 'name',
      header: t`Name`,
      cell: ({ name, stays_at }) => (
        <>
          <Anchor
            component={Link}
            to={datasetPath(projectId, name)}
            className="row-link"
            c="inherit"
            fw={500}
            size="sm"
          >
            {name}
          </Anchor>
          {stays_at && (
            <Text span size="sm" c="dimmed">
              {t` stays at ${stays_at}`}
            </Text>
          )}
        </>
      ),
    },
    {
      id: 'rows',
      header: t`Rows`,
      align: 'end',
      width: '7rem',
      cell: ({ rows }) => number(rows),
    },
    {
      id: 'columns',
      header: t`Columns`,
      align: 'end',
      width: '6rem',
      hideBelow: 'sm',
      cell: (dataset) => number(dataset.columns.length),
    },
    {
      id: 'size',
      header: t`Size`,
      align: 'end',
      width: '7rem',
      hideBelow: 'md',
      cell: ({ bytes }) => <span className="tabular">{formats.bytes(bytes)}</span>,
    },
    {
      id: 'change',
      header: t`Last change`,
      width: compact ? '10rem' : '16rem',
      hideBelow: 'sm',
      cell: (dataset) => <LastChange dataset={dataset} nameOf={nameOf} />,
    },
  ];
  return (
    <DataTable
      label={t`Datasets`}
      columns={compact ? columns.filter(({ id }) => id !== 'size') : columns}
      query={query}
      rowKey={({ name }) => name}
      empty={
        <EmptyState icon={Table2} picture="table" title={t`No datasets yet`} action={begin}>
          {t`Load a file (CSV, Excel, JSON, Parquet, SQLite and others): Steward looks at it, proposes types and shows why before anything is stored.`}
        </EmptyState>
      }
    />
  );
}

interface LastChangeProps {
  dataset: Dataset;
  nameOf: (userId: string) => string | null;
}

function LastChange({ dataset: { operation, changed_at, changed_by }, nameOf }: LastChangeProps) {
  if (changed_at === null) return null;
  const person = changed_by === null ? null : nameOf(changed_by);
  return (
    <div>
      {operation === null ? '' : operationName(operation)}
      <Text size="xs" c="dimmed">
        <RelativeTime value={changed_at} />
        {person !== null && t` by ${person}`}
      </Text>
    </div>
  );
}
