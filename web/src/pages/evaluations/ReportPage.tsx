/** One report: its cases by kind, and what changed since another one. */
import { t } from '@lingui/core/macro';
import { Select, SegmentedControl, Group, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type EvaluationDetail, evaluationQuery, evaluationsQuery } from '@/api/evaluations';
import { itemsOf } from '@/api/lists';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { FormattedDate } from '@/components/Moment';
import { Page } from '@/components/Page';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { CaseGroups } from './CaseGroups';
import { ComparisonSection } from './ComparisonSection';
import { CountChip } from './OutcomeChip';
import classes from './evaluations.module.css';

export default function ReportPage() {
  const project = useProject();
  const reportId = usePathParam('reportId') ?? '';
  const query = useQuery(evaluationQuery(project.id, reportId));
  const [before] = useSearchParam('before');
  const [shown, setShown] = useSearchParam('show');
  const report = query.data;
  return (
    <Page
      title={report?.title ?? t`Report`}
      parent={{ label: t`Evaluations`, to: projectPath(project.id, 'evaluations') }}
      description={report && <Facts report={report} />}
      toolbar={
        report && (
          <Group gap="sm" align="flex-end" className={classes.choices ?? ''}>
            <BeforeChoice report={report} />
            <SegmentedControl
              aria-label={t`Cases`}
              data={[
                { value: 'all', label: t`All cases` },
                { value: 'failed', label: t`Failed only` },
              ]}
              value={shown === 'failed' ? 'failed' : 'all'}
              onChange={(value) => setShown(value === 'all' ? null : value)}
            />
          </Group>
        )
      }
    >
      {query.isPending && <Skeleton height={120} />}
      {query.isError && !report && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {report && before !== null && before !== report.id && (
        <ComparisonSection report={report} before={before} />
      )}
      {report && <CaseGroups cases={report.results} failedOnly={shown === 'failed'} />}
    </Page>
  );
}

function Facts({ report }: { report: EvaluationDetail }) {
  const formats = useFormats();
  const models = [...new Set(Object.values(report.models).flat())].join(', ');
  return (
    <>
      <CountChip passed={report.passed} failed={report.failed} cases={report.cases} />{' '}
      {report.mode === 'online'
        ? t`With ${models || t`no model`}`
        : t`With scripted models and rules`}
      {` · ${formats.number(Math.round(report.seconds))} s · Steward ${report.steward} · `}
      <FormattedDate value={report.began_at} withTime />
    </>
  );
}

/** Which earlier report it is held against. */
function BeforeChoice({ report }: { report: EvaluationDetail }) {
  const project = useProject();
  const formats = useFormats();
  const query = useInfiniteQuery(evaluationsQuery(project.id));
  const [before, setBefore] = useSearchParam('before');
  const others = itemsOf(query.data).filter(({ id }) => id !== report.id);
  return (
    <Select
      label={t`Compare with`}
      placeholder={others.length === 0 ? t`No other report yet` : t`Choose a report`}
      disabled={others.length === 0}
      clearable
      w="20rem"
      maw="100%"
      data={others.map(({ id, title, created_at }) => ({
        value: id,
        label: `${title}, ${formats.dateTime(created_at)}`,
      }))}
      value={others.some(({ id }) => id === before) ? before : null}
      onChange={setBefore}
    />
  );
}
