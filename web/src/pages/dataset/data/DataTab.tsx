/** The rows of a dataset, sorted and filtered by the server as the address says. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core';
import { Filter, History, X } from 'lucide-react';
import { useState } from 'react';
import type { Dataset, RowFilter } from '@/api/data-types';
import { useMay, useProject } from '@/app/project';
import { isEncrypted } from '@/components/CellText';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { useSearchParam } from '@/components/use-search-param';
import {
  describeFilter,
  nextSort,
  parseFilters,
  parseSort,
  withFilter,
  writeFilters,
} from './filters';
import { Grid } from './Grid';
import { Revealing } from './Revealing';
import classes from './grid.module.css';
import { useFirstRows } from './use-rows';

export default function DataTab({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const formats = useFormats();
  const [sort, setSort] = useSearchParam('sort');
  const [filterText, setFilterText] = useSearchParam('filter');
  const [version, setVersion] = useSearchParam('version');
  const [revealed, setRevealed] = useState<string>();
  const names = dataset.columns.map(({ name }) => name);
  // An earlier version may have had other columns; the server says which it knows.
  const filters = parseFilters(filterText, names);
  const source = {
    projectId: project.id,
    dataset: dataset.name,
    version: version ?? dataset.version,
    sort: parseSort(sort, names),
    filters,
    revealed,
  };
  const first = useFirstRows(source);
  const setFilters = (next: RowFilter[]) => setFilterText(writeFilters(next));
  const without = (column: string) => filters.filter((filter) => filter.column !== column);

  if (first.isError) return <ErrorState error={first.error} retry={() => void first.refetch()} />;
  if (first.isPending) return <Loading />;
  const { total, columns, rows } = first.data;
  return (
    <Stack gap="xs">
      {version !== null && version !== dataset.version && (
        <Alert variant="light" icon={<History size={16} aria-hidden />}>
          {t`You are looking at an earlier version.`}{' '}
          <Button variant="default" size="compact-xs" onClick={() => setVersion(null)}>
            {t`Back to the present one`}
          </Button>
        </Alert>
      )}
      {Object.keys(dataset.encrypted).length > 0 && (
        <Revealing dataset={dataset} revealed={revealed} onRevealed={setRevealed} />
      )}
      <div className={classes.chips}>
        <Text size="sm" c="dimmed" role="status">
          {filters.length > 0
            ? t`${formats.number(total)} of ${formats.number(dataset.rows)} rows`
            : t`${formats.number(total)} rows, ${columns.length} columns`}
        </Text>
        {filters.map((filter) => (
          <Button
            key={filter.column}
            variant="default"
            size="compact-xs"
            rightSection={<X size={12} aria-hidden />}
            aria-label={t`Remove the filter: ${describeFilter(filter)}`}
            onClick={() => setFilters(without(filter.column))}
          >
            {describeFilter(filter)}
          </Button>
        ))}
      </div>
      <Grid
        source={source}
        columns={columns}
        total={total}
        sample={rows.map((row) =>
          row.map((cell) => (cell !== null && isEncrypted(cell) ? t`Encrypted` : cell)),
        )}
        sort={sort}
        onSort={(column) => setSort(nextSort(sort, column))}
        onFilter={(column, filter) =>
          setFilters(filter ? withFilter(filters, filter) : without(column))
        }
        retypeAddress={
          mayChange
            ? (column) =>
                `${datasetPath(project.id, dataset.name)}?${new URLSearchParams({ tab: 'clean', operation: 'retype', column })}`
            : undefined
        }
      />
      {total === 0 && (
        <EmptyState
          icon={Filter}
          title={filters.length > 0 ? t`No row matches` : t`This dataset has no rows`}
          action={
            filters.length > 0 && (
              <Button variant="default" onClick={() => setFilters([])}>
                {t`Show all rows`}
              </Button>
            )
          }
        />
      )}
    </Stack>
  );
}

function Loading() {
  return (
    <Stack gap="sm" aria-busy>
      {Array.from({ length: 12 }, (_, row) => (
        <Skeleton key={row} height={16} />
      ))}
    </Stack>
  );
}
