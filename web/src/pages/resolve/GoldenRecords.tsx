/** The first golden records, as they would be. */
import { t } from '@lingui/core/macro';
import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { rowsAtCommitQuery } from '@/api/resolve';
import { useProject } from '@/app/project';
import { CellTable } from '@/components/CellTable';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';

const SHOWN = 20;

export function GoldenRecords({ dataset, commit }: { dataset: string; commit: string }) {
  const project = useProject();
  const formats = useFormats();
  const query = useQuery(
    rowsAtCommitQuery(project.id, { dataset, commit, limit: SHOWN, sort: ['-records'] }),
  );
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const { columns, rows, total } = query.data;
  return (
    <div>
      <Text size="sm" fw={600}>
        {t`Golden records`}
      </Text>
      <Text size="sm" c="dimmed" mb={6}>
        {t`${formats.number(rows.length)} of ${formats.number(total)}, those made of most rows first.`}
      </Text>
      <CellTable label={t`Golden records`} columns={columns.map(({ name }) => name)} rows={rows} />
    </div>
  );
}
