/** The datasets of the project. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { datasetsQuery } from '@/api/datasets';
import { useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { DatasetTable } from './DatasetTable';

export default function DatasetsPage() {
  const project = useProject();
  const query = useInfiniteQuery(datasetsQuery(project.id));
  return (
    <Page
      title="Datasets"
      description="Typed tables with a history: every change can be looked at and undone."
    >
      <DatasetTable projectId={project.id} query={query} />
    </Page>
  );
}
