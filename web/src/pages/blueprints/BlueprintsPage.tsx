/** The catalogue: problems people have, what can be done about them, and a button that makes it theirs. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LayoutTemplate, TriangleAlert } from 'lucide-react';
import { type Blueprint, blueprintsQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import classes from './blueprints.module.css';
import { FlowSketch } from './FlowSketch';
import { ForkButtons } from './ForkButtons';
import { needsOf } from './needs';

export default function BlueprintsPage() {
  const project = useProject();
  const query = useQuery(blueprintsQuery(project.id));
  const categories = Map.groupBy(query.data?.items ?? [], ({ category }) => category);
  return (
    <Page
      title={t`Blueprints`}
      description={t`Playbooks for problems that many people have. Fork one to make it yours and change it.`}
      width="full"
    >
      <Stack gap="xl">
        {query.isError && !query.data && (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <Skeleton height={160} aria-busy />}
        {query.data?.items.length === 0 && (
          <EmptyState icon={LayoutTemplate} picture="cards" title={t`No blueprints`}>
            {t`Put YAML files into the folder blueprints of the installation.`}
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
            title={t`${file} is left out`}
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
  return (
    <li className={classes.card}>
      <FlowSketch title={blueprint.title} steps={blueprint.steps} />
      <Title order={3} size="h4">
        <Anchor
          component={Link}
          to={projectPath(project.id, 'blueprints', blueprint.id)}
          inherit
          c="inherit"
        >
          {blueprint.title}
        </Anchor>
      </Title>
      <Text size="sm" lineClamp={3}>
        {blueprint.goal}
      </Text>
      <Text size="xs" c="dimmed" lineClamp={3}>
        {t`Needs: ${needsOf(blueprint).join(' · ')}`}
      </Text>
      <ForkButtons blueprint={blueprint} />
    </li>
  );
}
