/** The original files, as they came. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { lineageQuery } from '@/api/datasets';
import { datasetsByFile, filesQuery } from '@/api/files';
import { useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { FileTable } from './FileTable';

export default function FilesPage() {
  const project = useProject();
  const query = useInfiniteQuery(filesQuery(project.id));
  const lineage = useQuery(lineageQuery(project.id));
  return (
    <Page title="Files" description="Files that you loaded, unchanged, and files that runs wrote.">
      <FileTable
        projectId={project.id}
        query={query}
        datasets={lineage.data ? datasetsByFile(lineage.data) : undefined}
      />
    </Page>
  );
}
