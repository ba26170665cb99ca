/** The catalogue: problems people have, what can be done about them, and a button that makes it theirs. */
import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FlaskConical, GitFork, LayoutTemplate, TriangleAlert } from 'lucide-react';
import { type Blueprint, blueprintsQuery, loadSample, useForkBlueprint } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import classes from './blueprints.module.css';

export default function BlueprintsPage() {
  const project = useProject();
  const query = useQuery(blueprintsQuery(project.id));
  const categories = Map.groupBy(query.data?.items ?? [], ({ category }) => category);
  return (
    <Page
      title="Blueprints"
      description="Problems that many have, each with a playbook that does something about it. Fork one and it is yours to change."
      width="full"
    >
      <Stack gap="xl">
        {query.isError && !query.data && (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <Skeleton height={160} aria-busy />}
        {query.data?.items.length === 0 && (
          <EmptyState icon={LayoutTemplate} title="No blueprints">
            Put YAML files into the folder blueprints of the installation.
          </EmptyState>
        )}
        {[...categories].map(([category, blueprints]) => (
          <Section key={category} title={category}>
            <ul className={classes.cards}>
              {blueprints.map((blueprint) => (
                <Card key={blueprint.id} blueprint={blueprint} />
              ))}
            </ul>
          </Section>
        ))}
        {(query.data?.broken ?? []).map(({ file, reason }) => (
          <Alert
            key={file}
            color="yellow"
            variant="light"
            icon={<TriangleAlert size={16} aria-hidden />}
            title={`${file} is left out`}
          >
            {reason}
          </Alert>
        ))}
      </Stack>
    </Page>
  );
}

function Card({ blueprint }: { blueprint: Blueprint }) {
  const project = useProject();
  const navigate = useNavigate();
  const mayFork = useMay('editor');
  const fork = useForkBlueprint(project.id);
  const begin = () =>
    fork.mutate(blueprint.id, {
      onSuccess: (made) => {
        showDone(`${made.name} is your draft now`);
        void navigate({ to: projectPath(project.id, 'playbooks', made.id) });
      },
      onError: showFailure,
    });
  const trial = useMutation({
    mutationFn: async () => {
      const { items } = await loadSample(project.id, blueprint.id);
      return { items, made: await fork.mutateAsync(blueprint.id) };
    },
    onSuccess: ({ items, made }) => {
      const kept = items.filter(({ loaded }) => !loaded).map(({ dataset }) => dataset);
      showDone(
        kept.length === 0
          ? `${made.name} is your draft now, with its sample data`
          : `${made.name} is your draft now. Your own data was left as it is: ${kept.join(', ')}`,
      );
      void navigate({
        to: projectPath(project.id, 'playbooks', made.id),
        search: { sample: blueprint.id },
      });
    },
    onError: showFailure,
  });
  return (
    <li className={classes.card}>
      <Title order={3} size="h4">
        {blueprint.title}
      </Title>
      <Part heading="The problem" text={blueprint.problem} />
      <Part heading="What it does" text={blueprint.does} />
      <Part heading="What to expect" text={blueprint.impact} />
      {blueprint.systems.length > 0 && (
        <Part heading="Where the data lies" text={blueprint.systems.join(', ')} />
      )}
      <Group className={classes.bottom ?? ''}>
        {mayFork ? (
          <Button
            leftSection={<GitFork size={14} aria-hidden />}
            loading={fork.isPending && !trial.isPending}
            disabled={trial.isPending}
            aria-label={`Fork ${blueprint.title}`}
            onClick={begin}
          >
            Fork
          </Button>
        ) : (
          <Text size="xs" c="dimmed">
            An editor of the project can fork it.
          </Text>
        )}
        {mayFork && blueprint.sample && (
          <Button
            variant="default"
            leftSection={<FlaskConical size={14} aria-hidden />}
            loading={trial.isPending}
            disabled={fork.isPending}
            aria-label={`Try ${blueprint.title} on sample data`}
            onClick={() => trial.mutate()}
          >
            Try on sample data
          </Button>
        )}
      </Group>
    </li>
  );
}

function Part({ heading, text }: { heading: string; text: string }) {
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed">
        {heading}
      </Text>
      {text
        .trim()
        .split(/\n{2,}/)
        .map((paragraph) => (
          <Text key={paragraph} size="sm">
            {paragraph}
          </Text>
        ))}
    </div>
  );
}
