/** How the datasets belong together: as a graph, and as a table that says the same. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Waypoints } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { relationsOf } from '@/api/insights';
import { useInsight } from '@/api/long-work';
import { useMay, useProject } from '@/app/project';
import { useDataUndoKeys } from '@/components/data-undo';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { InsightState } from '@/components/InsightState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { JoinDialog } from './JoinDialog';
import { graphOf, keyOf, type Relations, type Relationship } from './relations';
import classes from './relations.module.css';

const Graph = lazy(() => import('@/components/Graph'));

export default function RelationsPage() {
  const project = useProject();
  const mayChange = useMay('editor');
  useDataUndoKeys(project.id, mayChange);
  const insight = useInsight<Relations>(project.id, ['relations'], relationsOf(project.id));
  const [joining, setJoining] = useState<Relationship | null>(null);
  return (
    <Page
      title={t`Relations`}
      width="full"
      description={t`Keys and references between the datasets, found by comparing their values.`}
    >
      <InsightState insight={insight}>
        {(relations) =>
          relations.graph.nodes.length === 0 ? (
            <EmptyState icon={Waypoints} picture="flow" title={t`No datasets to relate`}>
              {t`Load two files or more, and what they have in common is found.`}
            </EmptyState>
          ) : (
            <RelationsView relations={relations} onJoin={mayChange ? setJoining : undefined} />
          )
        }
      </InsightState>
      {/* Outside: a join makes the relations stale, often before its own answer has arrived. */}
      <JoinDialog relationship={joining} onClose={() => setJoining(null)} />
    </Page>
  );
}

interface ViewProps {
  relations: Relations;
  onJoin: ((relationship: Relationship) => void) | undefined;
}

function RelationsView({ relations, onJoin }: ViewProps) {
  const project = useProject();
  const formats = useFormats();
  const navigate = useNavigate();
  const graph = useMemo(() => graphOf(relations, formats.number), [relations, formats]);
  const open = (name: string) => void navigate({ to: datasetPath(project.id, name) });
  return (
    <>
      <Suspense>
        <Graph
          label={t`Graph of ${graph.nodes.length} datasets; the table below says the same`}
          nodes={graph.nodes}
          edges={graph.edges}
          onSelect={open}
        />
      </Suspense>
      <Section title={t`References`}>
        {relations.relationships.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t`No column of one dataset holds values of another one’s key.`}
          </Text>
        ) : (
          <References found={relations.relationships} onJoin={onJoin} />
        )}
      </Section>
      <Section title={t`Keys`}>
        <ul className={classes.list}>
          {relations.keys
            .filter(({ primary }) => primary)
            .map(({ table, columns, reason }) => (
              <li key={`${table} ${columns.join()}`}>
                <b>{table}</b>: {columns.join(' + ')}
                <Text size="xs" c="dimmed">
                  {reason}
                </Text>
              </li>
            ))}
        </ul>
      </Section>
    </>
  );
}

interface ReferencesProps {
  found: Relationship[];
  onJoin: ((relationship: Relationship) => void) | undefined;
}

function References({ found, onJoin }: ReferencesProps) {
  const formats = useFormats();
  const percent = new Intl.NumberFormat(formats.locale, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={t`References`} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t`From`}</th>
            <th scope="col">{t`To`}</th>
            <th scope="col">{t`Kind`}</th>
            <th scope="col">{t`Coverage`}</th>
            <th scope="col">{t`Orphans`}</th>
            <th scope="col">{t`Why`}</th>
            <th scope="col">{t`Join`}</th>
          </tr>
        </thead>
        <tbody>
          {found.map((relationship) => (
            <tr key={keyOf(relationship)}>
              <th scope="row">
                {relationship.table}
                <Text size="xs" c="dimmed">
                  {relationship.columns.join(', ')}
                </Text>
              </th>
              <td>
                {relationship.referenced_table}
                <Text size="xs" c="dimmed">
                  {relationship.referenced_columns.join(', ')}
                </Text>
              </td>
              <td>
                <Group gap={4}>
                  <Badge size="sm" variant="light" miw="max-content">
                    {relationship.kind}
                  </Badge>
                  <Badge size="sm" variant="default">
                    {relationship.cardinality}
                  </Badge>
                </Group>
              </td>
              <td className="tabular">{percent.format(relationship.coverage)}</td>
              <td className="tabular">{formats.number(relationship.orphan_rows)}</td>
              <td className={classes.why}>{relationship.reason}</td>
              <td>
                {onJoin && (
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={t`Join ${relationship.join.left} with ${relationship.join.right}`}
                    onClick={() => onJoin(relationship)}
                  >
                    {t`Join…`}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
