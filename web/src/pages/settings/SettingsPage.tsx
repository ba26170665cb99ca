/** Renames and deletes the project; leads to sign-on, the second step, the network policy and retention. */
import { t } from '@lingui/core/macro';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { projectQuery } from '@/api/projects';
import { projectPath, useMay, useProject } from '@/app/project';
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
    <Page title={t`Settings`} width="narrow">
      <Section title={t`General`} framed>
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
            <CopyField label={t`Project ID, for the API and the command line`} value={project.id} />
          </Stack>
        )}
      </Section>
      {mayDelete && (
        <Section title={t`Single sign-on`} framed>
          <Group justify="space-between" gap="md">
            <Text size="sm" maw="26rem">
              {t`Let people sign in with an OpenID provider, and give them roles by their groups. For owners of the organisation.`}
            </Text>
            <Button
              component={Link}
              to={projectPath(project.id, 'settings', 'sign-on')}
              variant="default"
            >
              {t`Set up`}
            </Button>
          </Group>
        </Section>
      )}
      {mayDelete && (
        <Section title={t`Two-step sign-in`} framed>
          <Group justify="space-between" gap="md">
            <Text size="sm" maw="26rem">
              {t`Require a second step of everyone who signs in with a password. For owners of the organisation.`}
            </Text>
            <Button
              component={Link}
              to={projectPath(project.id, 'settings', 'second-step')}
              variant="default"
            >
              {t`Open`}
            </Button>
          </Group>
        </Section>
      )}
      <Section title={t`Network`} framed>
        <Group justify="space-between" gap="md">
          <Text size="sm" maw="26rem">
            {t`Say which hosts, ports and networks this project may call.`}
          </Text>
          <Button
            component={Link}
            to={projectPath(project.id, 'settings', 'network')}
            variant="default"
          >
            {t`Open`}
          </Button>
        </Group>
      </Section>
      <Section title={t`Retention`} framed>
        <Group justify="space-between" gap="md">
          <Text size="sm" maw="26rem">
            {t`Say how long runs, versions and events are kept. Place a legal hold to stop every deletion.`}
          </Text>
          <Button
            component={Link}
            to={projectPath(project.id, 'settings', 'retention')}
            variant="default"
          >
            {t`Open`}
          </Button>
        </Group>
      </Section>
      {mayDelete && (
        <Section title={t`Delete`} framed>
          <DeleteProject project={project} />
        </Section>
      )}
    </Page>
  );
}
