/** A report as a page within the page. It is shut in: no scripts, no forms, nothing from elsewhere. */
import { t } from '@lingui/core/macro';
import { Group, Modal, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { fileName } from '@/api/files';
import { reportTextQuery } from '@/api/reports';
import { ErrorState } from '@/components/ErrorState';
import classes from './reports.module.css';
import { DownloadButton } from './ReportTable';

interface Props {
  projectId: string;
  /** The HTML file; closed without. */
  path: string | null;
  onClose: () => void;
}

export function ReportView({ projectId, path, onClose }: Props) {
  const title = path === null ? '' : fileName(path).replace(/\.html$/, '');
  return (
    <Modal opened={path !== null} onClose={onClose} title={title} size="64rem">
      {path !== null && (
        <Stack gap="sm">
          <Group gap="xs" justify="flex-end">
            <DownloadButton projectId={projectId} path={path} label={t`HTML`} />
            <DownloadButton
              projectId={projectId}
              path={path.replace(/\.html$/, '.pdf')}
              label={t`PDF`}
            />
          </Group>
          <Content projectId={projectId} path={path} title={title} />
        </Stack>
      )}
    </Modal>
  );
}

function Content({ projectId, path, title }: { projectId: string; path: string; title: string }) {
  const query = useQuery(reportTextQuery(projectId, path));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={400} aria-busy />;
  return (
    <iframe className={classes.report} title={t`Report ${title}`} sandbox="" srcDoc={query.data} />
  );
}
