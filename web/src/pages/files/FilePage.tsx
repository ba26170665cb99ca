/** One file: its first rows and its download. */
import { Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { downloadAddress, filesQuery, previewQuery } from '@/api/files';
import { itemsOf } from '@/api/lists';
import type { ProjectFile } from '@/api/types';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { FormattedDate } from '@/components/Moment';
import { Page } from '@/components/Page';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { PreviewTable } from './PreviewTable';

const ROW_CHOICES = ['50', '200'];

export default function FilePage() {
  const project = useProject();
  const fileId = usePathParam('fileId') ?? '';
  const [rows, setRows] = useSearchParam('rows');
  const limit = rows !== null && ROW_CHOICES.includes(rows) ? rows : '50';
  const files = useInfiniteQuery(filesQuery(project.id));
  const preview = useQuery({
    ...previewQuery(project.id, fileId, Number(limit)),
    placeholderData: keepPreviousData,
  });
  const file = itemsOf(files.data).find(({ id }) => id === fileId);

  return (
    <Page
      title={file?.name ?? 'File'}
      width="full"
      parent={{ label: 'Files', to: projectPath(project.id, 'files') }}
      description={file && <Facts file={file} />}
      actions={
        <Button
          component="a"
          href={downloadAddress(project.id, fileId)}
          download={file?.name ?? ''}
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
        >
          Download
        </Button>
      }
    >
      {preview.isError ? (
        <ErrorState error={preview.error} retry={() => void preview.refetch()} />
      ) : preview.isPending ? (
        <Loading />
      ) : (
        <Stack gap="xs">
          <Group justify="space-between">
            <Text size="sm" c="dimmed" role="status">
              <Shown count={preview.data.rows.length} truncated={preview.data.truncated} />
              {preview.data.columns.length} columns
            </Text>
            <SegmentedControl
              size="xs"
              aria-label="Rows to show"
              data={ROW_CHOICES.map((value) => ({ value, label: `${value} rows` }))}
              value={limit}
              onChange={setRows}
            />
          </Group>
          <PreviewTable label={file?.name ?? 'file'} preview={preview.data} />
        </Stack>
      )}
    </Page>
  );
}

function Facts({ file }: { file: ProjectFile }) {
  const formats = useFormats();
  return (
    <>
      {file.description && <>{file.description} · </>}
      {formats.bytes(file.size)} · {file.media_type} · added{' '}
      <FormattedDate value={file.created_at} />
    </>
  );
}

function Shown({ count, truncated }: { count: number; truncated: boolean }) {
  const formats = useFormats();
  return <>{`${truncated ? 'First ' : ''}${formats.number(count)} rows, `}</>;
}

function Loading() {
  return (
    <Stack gap="sm" aria-busy>
      {Array.from({ length: 10 }, (_, row) => (
        <Skeleton key={row} height={16} />
      ))}
    </Stack>
  );
}
