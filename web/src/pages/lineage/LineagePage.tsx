/** Where every dataset comes from: file, operation, dataset, down to columns. */
import { t } from '@lingui/core/macro';
import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { GitFork } from 'lucide-react';
import { lazy, Suspense, useMemo } from 'react';
import { lineageQuery } from '@/api/datasets';
import type { LineageNode } from '@/api/data-types';
import { projectPath, useProject } from '@/app/project';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import { drawn, labelOf, type Step, stepFor, stepsOf } from './lineage';
import classes from './lineage.module.css';

const Graph = lazy(() => import('@/components/Graph'));

export default function LineagePage() {
  const project = useProject();
  const query = useQuery(lineageQuery(project.id));
  const [selected, setSelected] = useSearchParam('node');
  const graph = useMemo(() => (query.data ? drawn(query.data) : null), [query.data]);
  const steps = useMemo(() => (query.data ? stepsOf(query.data) : []), [query.data]);
  const step = stepFor(steps, selected);
  return (
    <Page
      title={t`Lineage`}
      width="full"
      description={t`Which dataset was made from which, and by what. Choose a box to see its columns.`}
    >
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : !graph ? (
        <Skeleton height={320} aria-busy />
      ) : graph.nodes.length === 0 ? (
        <EmptyState icon={GitFork} picture="flow" title={t`Nothing to trace yet`}>
          {t`Load a file, and from then on every dataset shows where it comes from.`}
        </EmptyState>
      ) : (
        <>
          <Suspense fallback={<Skeleton height={320} aria-busy />}>
            <Graph
              label={t`Graph of ${steps.length} steps; the list below says the same`}
              nodes={graph.nodes}
              edges={graph.edges}
              selected={selected}
              onSelect={setSelected}
            />
          </Suspense>
          {step && <ColumnLineage step={step} />}
          <Section title={t`Steps`}>
            <ol className={classes.list}>
              {steps.map((item) => (
                <StepItem
                  key={item.id}
                  step={item}
                  isSelected={item === step}
                  onSelect={() => setSelected(item.id)}
                />
              ))}
            </ol>
          </Section>
        </>
      )}
    </Page>
  );
}

function NodeLink({ node }: { node: LineageNode }) {
  const project = useProject();
  const to =
    node.kind === 'file' ? projectPath(project.id, 'files') : datasetPath(project.id, node.label);
  return (
    <Anchor component={Link} to={to} size="sm">
      {labelOf(node)}
    </Anchor>
  );
}

interface ItemProps {
  step: Step;
  isSelected: boolean;
  onSelect: () => void;
}

function StepItem({ step, isSelected, onSelect }: ItemProps) {
  return (
    <li data-selected={isSelected}>
      {step.inputs.map((node, index) => (
        <span key={node.id}>
          {index > 0 && ', '}
          <NodeLink node={node} />
        </span>
      ))}
      <span aria-hidden> → </span>
      <button
        type="button"
        className={classes.operation}
        aria-pressed={isSelected}
        onClick={onSelect}
      >
        {step.operation}
      </button>
      <span aria-hidden> → </span>
      <NodeLink node={step.output} />
    </li>
  );
}

function ColumnLineage({ step }: { step: Step }) {
  return (
    <Section title={t`Columns of ${labelOf(step.output)}`}>
      {step.columns.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t`Every column was read from ${step.inputs.map(labelOf).join(', ') || t`the source`}.`}
        </Text>
      ) : (
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <div className={classes.scroller} role="group" aria-label={t`Columns`} tabIndex={0}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col">{t`Column`}</th>
                <th scope="col">{t`Comes from`}</th>
                <th scope="col">{t`How`}</th>
              </tr>
            </thead>
            <tbody>
              {step.columns.map(({ output, inputs, transformation }) => (
                <tr key={output}>
                  <th scope="row">{output}</th>
                  <td>{inputs.map(([table, column]) => `${table}.${column}`).join(', ')}</td>
                  <td>{transformation}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
