/** The original files, as they came. */
import { t } from '@lingui/core/macro';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { lineageQuery } from '@/api/datasets';
import { datasetsByFile, filesQuery } from '@/api/files';
import { useMay, useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import { DownloadLinkDialog } from './DownloadLinkDialog';
import { FileTable } from './FileTable';
import { LinkTable } from './LinkTable';

export default function FilesPage() {
  const project = useProject();
  const query = useInfiniteQuery(filesQuery(project.id));
  const mayShare = useMay('editor');
  const [shared, setShared] = useSearchParam('share');
  const lineage = useQuery(lineageQuery(project.id));
  return (
    <Page
      title={t`Files`}
      description={t`Files that you loaded, unchanged, and files that runs wrote.`}
    >
      <FileTable
        projectId={project.id}
        query={query}
        datasets={lineage.data ? datasetsByFile(lineage.data) : undefined}
        onShare={mayShare ? setShared : undefined}
      />
      {mayShare && (
        <Section
          title={t`Links`}
          description={t`Anyone who has one of these links can fetch the file, or send one, without an account.`}
        >
          <LinkTable projectId={project.id} />
        </Section>
      )}
      {mayShare && shared !== null && (
        <DownloadLinkDialog projectId={project.id} file={shared} onClose={() => setShared(null)} />
      )}
    </Page>
  );
}
