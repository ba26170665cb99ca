/** The reports of the project: written here, looked at here, downloaded for the screen or for paper. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { filesQuery } from '@/api/files';
import { useMay, useProject } from '@/app/project';
import { useDataUndoKeys } from '@/components/data-undo';
import { EmptyState } from '@/components/EmptyState';
import { Page } from '@/components/Page';
import { UnderWay } from '@/components/UnderWay';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { ReportDialog } from './ReportDialog';
import { ReportTable } from './ReportTable';
import { ReportView } from './ReportView';

export default function ReportsPage() {
  const project = useProject();
  const mayWrite = useMay('editor');
  useDataUndoKeys(project.id, mayWrite);
  const navigate = useNavigate();
  const query = useInfiniteQuery(filesQuery(project.id));
  const dialog = useDialog('write');
  const [shown, show] = useSearchParam('report');
  const write = mayWrite && <Button onClick={dialog.open}>{t`Write a report`}</Button>;
  return (
    <Page
      title={t`Reports`}
      description={t`What is in the datasets, how good it is and where it comes from, with charts, lineage and provenance.`}
      actions={write}
    >
      <UnderWay projectId={project.id} subject="report" />
      <ReportTable
        projectId={project.id}
        query={query}
        onShow={show}
        empty={
          <EmptyState icon={FileText} picture="page" title={t`No reports yet`} action={write}>
            {t`A report is written from one dataset or several, as a page for the screen and as a PDF.`}
          </EmptyState>
        }
      />
      <ReportView projectId={project.id} path={shown} onClose={() => show(null)} />
      {mayWrite && (
        <ReportDialog
          opened={dialog.opened}
          onClose={() => void navigate({ to: '.', search: {}, replace: true })}
          onShow={(report) => void navigate({ to: '.', search: { report }, replace: true })}
        />
      )}
    </Page>
  );
}
