/** Files as a table, each with what was made from it and its download. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Anchor, Button, Group, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, FileSpreadsheet, Link2 } from 'lucide-react';
import { downloadAddress, fileName } from '@/api/files';
import { isReport } from '@/api/reports';
import type { ListPage, ProjectFile } from '@/api/types';
import { projectPath } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import classes from './files.module.css';

interface Props {
  projectId: string;
  query: UseInfiniteQueryResult<InfiniteData<ListPage<ProjectFile>>>;
  /** What was made from each file; unset while that is not known. */
  datasets: Map<string, string[]> | undefined;
  /** Makes a link for a file; unset for people who may not. */
  onShare: ((path: string) => void) | undefined;
}

export function FileTable({ projectId, query, datasets, onShare }: Props) {
  const formats = useFormats();
  const columns: Column<ProjectFile>[] = [
    {
      id: 'name',
      header: t`Name`,
      cell: ({ path }) => (
        <Text size="sm" fw={500}>
          {fileName(path)}
        </Text>
      ),
    },
    {
      id: 'dataset',
      header: t`Loaded as`,
      width: '16rem',
      cell: ({ path }) => <MadeFrom projectId={projectId} names={datasets?.get(path)} />,
    },
    {
      id: 'size',
      header: t`Size`,
      align: 'end',
      hideBelow: 'sm',
      width: '7rem',
      cell: (file) => <span className="tabular">{formats.bytes(file.bytes)}</span>,
    },
    {
      id: 'download',
      header: t`Download`,
      quietHeader: true,
      align: 'end',
      width: '5rem',
      cell: ({ path }) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {onShare && (
            <ActionIcon
              variant="subtle"
              color="gray"
              title={t`Copy download link`}
              aria-label={t`Copy download link for ${fileName(path)}`}
              onClick={() => onShare(path)}
            >
              <Link2 size={15} aria-hidden />
            </ActionIcon>
          )}
          <ActionIcon
            component="a"
            href={downloadAddress(projectId, path)}
            download={fileName(path)}
            variant="subtle"
            color="gray"
            title={t`Download`}
            aria-label={t`Download ${fileName(path)}`}
          >
            <Download size={15} aria-hidden />
          </ActionIcon>
        </Group>
      ),
    },
  ];
  return (
    <DataTable
      label={t`Files`}
      columns={columns}
      query={query}
      rowKey={({ path }) => path}
      // Reports have a page of their own.
      filter={({ path }) => !isReport(path)}
      empty={
        <EmptyState
          icon={FileSpreadsheet}
          picture="page"
          title={t`No files yet`}
          action={
            <Button component={Link} to={projectPath(projectId, 'datasets')} variant="default">
              {t`Go to datasets`}
            </Button>
          }
        >
          {t`A file is kept here when it is loaded as a dataset.`}
        </EmptyState>
      }
    />
  );
}

function MadeFrom({ projectId, names }: { projectId: string; names: string[] | undefined }) {
  if (names === undefined) return null;
  return (
    <span className={classes.names}>
      {names.map((name) => (
        <Anchor key={name} component={Link} to={datasetPath(projectId, name)} size="sm">
          {name}
        </Anchor>
      ))}
    </span>
  );
}
