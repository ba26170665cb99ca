/** The list of files. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { filesQuery } from '@/api/files';
import { useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { FileTable } from './FileTable';

export default function FilesPage() {
  const project = useProject();
  const query = useInfiniteQuery(filesQuery(project.id));
  return (
    <Page
      title="Files"
      description="What this project works with. Open a file to look at its first rows."
    >
      <FileTable projectId={project.id} query={query} />
    </Page>
  );
}
