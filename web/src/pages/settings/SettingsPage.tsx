/** Renames and deletes the project. */
import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectQuery } from '@/api/projects';
import { useMay, useProject } from '@/app/project';
import { CopyField } from '@/components/CopyField';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { DeleteProject } from './DeleteProject';
import { RenameForm } from './RenameForm';

export default function SettingsPage() {
  const project = useProject();
  const query = useQuery(projectQuery(project.id));
  const mayDelete = useMay('owner');
  return (
    <Page title="Settings" width="narrow">
      <Section title="General" framed>
        {query.isPending ? (
          <Stack aria-busy>
            <Skeleton height={34} />
            <Skeleton height={34} />
          </Stack>
        ) : query.isError ? (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        ) : (
          <Stack>
            <RenameForm key={project.id} current={query.data} />
            <CopyField label="Project ID, for the API and the command line" value={project.id} />
          </Stack>
        )}
      </Section>
      {mayDelete && (
        <Section title="Delete" framed>
          <DeleteProject project={project} />
        </Section>
      )}
    </Page>
  );
}
