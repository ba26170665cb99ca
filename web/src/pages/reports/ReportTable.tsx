/** Reports as a table, each with its preview and its downloads. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { downloadAddress, fileName } from '@/api/files';
import { itemsOf } from '@/api/lists';
import { isReport, reportsAmong } from '@/api/reports';
import type { ListPage, ProjectFile } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { useFormats } from '@/components/format';

interface Props {
  projectId: string;
  query: UseInfiniteQueryResult<InfiniteData<ListPage<ProjectFile>>>;
  onShow: (path: string) => void;
  empty: ReactNode;
}

export function ReportTable({ projectId, query, onShow, empty }: Props) {
  const formats = useFormats();
  const reports = useMemo(() => reportsAmong(itemsOf(query.data)), [query.data]);
  const reportOf = ({ path }: ProjectFile) =>
    reports.find(({ html, pdf }) => html === path || pdf === path);
  const columns: Column<ProjectFile>[] = [
    {
      id: 'title',
      header: t`Report`,
      cell: (file) => {
        const report = reportOf(file);
        if (!report?.html) return <Text size="sm">{report?.title}</Text>;
        return (
          <Anchor component="button" size="sm" fw={500} ta="left" onClick={() => onShow(file.path)}>
            {report.title}
          </Anchor>
        );
      },
    },
    {
      id: 'size',
      header: t`Size`,
      align: 'end',
      hideBelow: 'sm',
      width: '7rem',
      cell: (file) => (
        <span className="tabular">{formats.bytes(reportOf(file)?.bytes ?? file.bytes)}</span>
      ),
    },
    {
      id: 'download',
      header: t`Download`,
      align: 'end',
      width: '14rem',
      cell: (file) => {
        const report = reportOf(file);
        return (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            {report?.html && (
              <DownloadButton {...{ projectId, path: report.html }} label={t`HTML`} />
            )}
            {report?.pdf && <DownloadButton {...{ projectId, path: report.pdf }} label={t`PDF`} />}
          </Group>
        );
      },
    },
  ];
  return (
    <DataTable
      label={t`Reports`}
      columns={columns}
      query={query}
      rowKey={({ path }) => path}
      // One line for each report, whatever it was stored as.
      filter={(file) => {
        const report = reportOf(file);
        return isReport(file.path) && (report?.html ?? report?.pdf) === file.path;
      }}
      empty={empty}
    />
  );
}

interface DownloadProps {
  projectId: string;
  path: string;
  label: string;
}

export function DownloadButton({ projectId, path, label }: DownloadProps) {
  return (
    <Button
      component="a"
      href={downloadAddress(projectId, path)}
      download={fileName(path)}
      variant="default"
      size="compact-sm"
      leftSection={<Download size={13} aria-hidden />}
      aria-label={t`Download ${fileName(path)}`}
    >
      {label}
    </Button>
  );
}
