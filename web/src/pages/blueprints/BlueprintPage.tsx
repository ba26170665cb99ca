/** One blueprint: the problem, what it does about it step by step, what to expect and what it needs. */
import { t } from '@lingui/core/macro';
import { List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LayoutTemplate } from 'lucide-react';
import { blueprintsQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { usePathParam } from '@/components/use-path-param';
import { FlowSketch } from './FlowSketch';
import { ForkButtons } from './ForkButtons';
import { needsOf } from './needs';

export default function BlueprintPage() {
  const project = useProject();
  const id = usePathParam('blueprintId') ?? '';
  const query = useQuery(blueprintsQuery(project.id));
  const blueprint = query.data?.items.find((each) => each.id === id);
  return (
    <Page
      title={blueprint?.title ?? t`Blueprint`}
      description={blueprint?.goal}
      parent={{ label: t`Blueprints`, to: projectPath(project.id, 'blueprints') }}
      actions={blueprint && <ForkButtons blueprint={blueprint} />}
    >
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.isPending && <LoadingLines />}
      {query.data && !blueprint && (
        <EmptyState icon={LayoutTemplate} title={t`There is no such blueprint`}>
          {t`It may have been renamed or removed. The list has all that there are.`}
        </EmptyState>
      )}
      {blueprint && (
        <>
          <FlowSketch title={blueprint.title} steps={blueprint.steps} />
          <Section title={t`The problem`}>
            <Prose text={blueprint.problem} />
          </Section>
          <Section title={t`What it does`}>
            <Prose text={blueprint.does} />
          </Section>
          <Section title={t`What to expect`}>
            <Prose text={blueprint.impact} />
          </Section>
          <Section title={t`What it needs`}>
            <List size="sm">
              {needsOf(blueprint).map((need) => (
                <List.Item key={need}>{need}</List.Item>
              ))}
            </List>
          </Section>
          <Section title={t`Steps`}>
            <List type="ordered" size="sm">
              {blueprint.steps.map(({ id: step, title }) => (
                <List.Item key={step}>{title}</List.Item>
              ))}
            </List>
          </Section>
        </>
      )}
    </Page>
  );
}

function Prose({ text }: { text: string }) {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => (
      <Text key={paragraph} size="sm" maw="44rem">
        {paragraph}
      </Text>
    ));
}
