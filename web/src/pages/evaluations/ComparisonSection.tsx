/** What changed between two reports: broken first, then mended, then everything else. */
import { t } from '@lingui/core/macro';
import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  comparisonQuery,
  type EvaluationComparison,
  type EvaluationDetail,
} from '@/api/evaluations';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { Section } from '@/components/Section';
import classes from './evaluations.module.css';

interface Props {
  report: EvaluationDetail;
  before: string;
}

export function ComparisonSection({ report, before }: Props) {
  const project = useProject();
  const query = useQuery(comparisonQuery(project.id, report.id, before));
  return (
    <Section
      title={t`Since the other report`}
      description={
        query.data &&
        t`${query.data.before.passed} passed in ${query.data.before.title}, ${query.data.after.passed} here.`
      }
      framed
    >
      {query.isPending && <Skeleton height={60} />}
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.data && <Changes found={query.data} />}
    </Section>
  );
}

const GROUPS: { name: 'broken' | 'mended' | 'still_failing' | 'new' | 'gone'; title: string }[] = [
  { name: 'broken', title: t`Broken: did not fail before` },
  { name: 'mended', title: t`Mended: failed before` },
  { name: 'still_failing', title: t`Still failing` },
  { name: 'new', title: t`New` },
  { name: 'gone', title: t`Gone` },
];

function Changes({ found }: { found: EvaluationComparison }) {
  const groups = GROUPS.filter(({ name }) => found[name].length > 0);
  if (groups.length === 0 && found.moved.length === 0) {
    return <Text size="sm">{t`Every case came out as before.`}</Text>;
  }
  return (
    <div className={classes.changes}>
      {groups.map(({ name, title }) => (
        <div key={name}>
          <Text size="sm" fw={600} component="h3">
            {title} ({found[name].length})
          </Text>
          <ul>
            {found[name].map((key) => (
              <li key={key}>
                {name === 'gone' ? (
                  key
                ) : (
                  <Anchor href={`#${key}`} inherit>
                    {key}
                  </Anchor>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
      {found.moved.length > 0 && (
        <div>
          <Text size="sm" fw={600} component="h3">
            {t`Figures that moved (${found.moved.length})`}
          </Text>
          <ul>
            {found.moved.map(({ case: key, fact, before, after }) => (
              <li key={`${key} ${fact}`} className="tabular">
                {key}: {fact} {before} → {after}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
