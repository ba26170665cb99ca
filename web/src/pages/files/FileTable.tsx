/** Files as a table; a whole row opens its file. */
import { ActionIcon, Anchor, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, FileSpreadsheet } from 'lucide-react';
import { downloadAddress } from '@/api/files';
import type { ListPage, ProjectFile } from '@/api/types';
import { projectPath } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import classes from './files.module.css';

interface Props {
  projectId: string;
  query: UseInfiniteQueryResult<InfiniteData<ListPage<ProjectFile>>>;
}

export function FileTable({ projectId, query }: Props) {
  const formats = useFormats();
  const columns: Column<ProjectFile>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: (file) => (
        <div>
          <Anchor
            component={Link}
            to={projectPath(projectId, 'files', file.id)}
            className="row-link"
            c="inherit"
            fw={500}
            size="sm"
          >
            {file.name}
          </Anchor>
          {file.description && (
            <Text size="xs" c="dimmed" lineClamp={2}>
              {file.description}
            </Text>
          )}
        </div>
      ),
    },
    {
      id: 'size',
      header: 'Size',
      align: 'end',
      width: '7rem',
      cell: (file) => <span className="tabular">{formats.bytes(file.size)}</span>,
    },
    {
      id: 'added',
      header: 'Added',
      hideBelow: 'sm',
      width: '9rem',
      cell: (file) => <RelativeTime value={file.created_at} />,
    },
    {
      id: 'download',
      header: 'Download',
      quietHeader: true,
      align: 'end',
      width: '3rem',
      cell: (file) => (
        <ActionIcon
          component="a"
          href={downloadAddress(projectId, file.id)}
          download={file.name}
          variant="subtle"
          color="gray"
          className={classes.aboveRowLink}
          title="Download"
          aria-label={`Download ${file.name}`}
        >
          <Download size={15} aria-hidden />
        </ActionIcon>
      ),
    },
  ];
  return (
    <DataTable
      label="Files"
      columns={columns}
      query={query}
      rowKey={(file) => file.id}
      empty={
        <EmptyState icon={FileSpreadsheet} title="No files yet">
          What people and agents add to this project will be listed here. The demo project has
          samples.
        </EmptyState>
      }
    />
  );
}
