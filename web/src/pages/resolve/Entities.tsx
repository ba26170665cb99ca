/** Entities made of several rows: which rows, what each gives to the golden record, and why they are one. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Group, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RowFilter, RowPage } from '@/api/data-types';
import { type Resolution, rowsAtCommitQuery } from '@/api/resolve';
import { useProject } from '@/app/project';
import { CellText } from '@/components/CellText';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { cellOf, titleOf } from './entity-rows';
import classes from './resolve.module.css';

const PAGE = 10;
/** More rows of one entity than this are not worth reading here; the mapping has them all. */
const MOST_ROWS = 50;
const SEVERAL: RowFilter[] = [{ column: 'records', operator: 'gt', value: '1' }];

export function Entities({ result }: { result: Resolution }) {
  const project = useProject();
  const formats = useFormats();
  const [offset, setOffset] = useState(0);
  const [golden = ''] = result.results;
  const query = useQuery({
    ...rowsAtCommitQuery(project.id, {
      dataset: golden,
      commit: result.commit,
      offset,
      limit: PAGE,
      sort: ['-records', 'entity_id'],
      filters: SEVERAL,
    }),
    placeholderData: (previous) => previous,
  });
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={160} aria-busy />;
  const page = query.data;
  if (page.total === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t`No two rows were found to be the same: every row is an entity of its own.`}
      </Text>
    );
  }
  const last = Math.min(offset + PAGE, page.total);
  return (
    <div aria-busy={query.isPlaceholderData}>
      <Group justify="space-between" gap="xs" mb={6}>
        <div>
          <Text size="sm" fw={600}>
            {t`Entities of several rows`}
          </Text>
          <Text size="sm" c="dimmed" role="status">
            {t`${formats.number(offset + 1)} to ${formats.number(last)} of ${formats.number(page.total)}`}
          </Text>
        </div>
        <Group gap="xs">
          <Button
            variant="default"
            size="compact-sm"
            disabled={offset === 0}
            onClick={() => setOffset(Math.max(0, offset - PAGE))}
          >
            {t`Previous`}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            disabled={last >= page.total}
            onClick={() => setOffset(offset + PAGE)}
          >
            {t`Next`}
          </Button>
        </Group>
      </Group>
      <ul className={classes.entities}>
        {page.rows.map((row) => (
          <li key={cellOf(page, row, 'entity_id')}>
            <Entity page={page} row={row} result={result} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface EntityProps {
  page: RowPage;
  row: (string | null)[];
  result: Resolution;
}

function Entity({ page, row, result }: EntityProps) {
  const formats = useFormats();
  const [opened, setOpened] = useState(false);
  const id = cellOf(page, row, 'entity_id') ?? '';
  return (
    <details
      className={classes.entity}
      onToggle={({ currentTarget }) => setOpened(currentTarget.open)}
    >
      <summary>
        <Text span size="sm" fw={500} mr={8}>
          {titleOf(page, row)}
        </Text>
        <Badge size="sm" variant="light">
          {t`${formats.number(Number(cellOf(page, row, 'records')))} rows`}
        </Badge>
      </summary>
      {opened && <Members entity={id} result={result} />}
    </details>
  );
}

const ROW_COLUMNS = [
  { name: 'source_table', header: t`Dataset` },
  { name: 'row_key', header: t`Row` },
  { name: 'survives_in', header: t`Gives to the golden record` },
];
const PAIR_COLUMNS = [
  { name: 'left_row', header: t`Row` },
  { name: 'right_row', header: t`And row` },
  { name: 'outcome', header: t`Outcome` },
  { name: 'evidence', header: t`Evidence` },
];

function Members({ entity, result }: { entity: string; result: Resolution }) {
  const [, mapping = '', pairs = ''] = result.results;
  const { commit } = result;
  return (
    <div>
      <RowsOf
        label={t`Rows of the entity`}
        wanted={{ dataset: mapping, commit, column: 'entity_id', value: entity }}
        columns={ROW_COLUMNS}
        empty={t`The rows of this entity are not listed.`}
      />
      <RowsOf
        label={t`Why they are one`}
        wanted={{ dataset: pairs, commit, column: 'left_entity', value: entity }}
        columns={PAIR_COLUMNS}
        empty={t`No pair was compared: these rows share the key that makes them one party.`}
      />
    </div>
  );
}

interface RowsOfProps {
  label: string;
  wanted: { dataset: string; commit: string; column: string; value: string };
  columns: { name: string; header: string }[];
  empty: string;
}

function RowsOf({ label, wanted, columns, empty }: RowsOfProps) {
  const project = useProject();
  const formats = useFormats();
  const { dataset, commit, column, value } = wanted;
  const query = useQuery(
    rowsAtCommitQuery(project.id, {
      dataset,
      commit,
      limit: MOST_ROWS,
      filters: [{ column, operator: 'eq', value }],
    }),
  );
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={48} aria-busy />;
  const page = query.data;
  if (page.total === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  }
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {label}
        {page.total > page.rows.length &&
          t`, ${formats.number(page.rows.length)} of ${formats.number(page.total)}`}
      </Text>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className={classes.scroller} role="group" aria-label={label} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              {columns.map(({ name, header }) => (
                <th key={name} scope="col">
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {page.rows.map((row, index) => (
              <tr key={index}>
                {columns.map(({ name }) => (
                  <td key={name}>
                    <Cell page={page} row={row} name={name} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Cell({ page, row, name }: { page: RowPage; row: (string | null)[]; name: string }) {
  const value = cellOf(page, row, name);
  // A row without a key goes by its position; one that gives nothing says so.
  if (name === 'row_key' && value === null) return <>#{cellOf(page, row, 'row_number')}</>;
  if (name === 'survives_in') {
    return <>{value === null || value === '' ? t`nothing` : value.replaceAll('_', ' ')}</>;
  }
  if (name === 'evidence') return <>{value}</>;
  return <CellText value={value} />;
}
