/** The first golden records, as they would be. */
import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { rowsAtCommitQuery } from '@/api/resolve';
import { useProject } from '@/app/project';
import { CellText } from '@/components/CellText';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';

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
        Golden records
      </Text>
      <Text size="sm" c="dimmed" mb={6}>
        {`${formats.number(rows.length)} of ${formats.number(total)}, those made of most rows first.`}
      </Text>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className={classes.scroller} role="group" aria-label="Golden records" tabIndex={0}>
        <table className={`${classes.table} ${classes.golden}`}>
          <thead>
            <tr>
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row[0]}>
                {row.map((value, index) => (
                  <td key={index}>
                    <CellText value={value} />
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
