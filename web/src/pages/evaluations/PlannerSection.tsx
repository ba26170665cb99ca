/** How planning went in the last days: speed, adherence, and what was not valid. */
import { t } from '@lingui/core/macro';
import { SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Gauge } from 'lucide-react';
import { type PlannerMeasures, plannerMeasuresQuery } from '@/api/evaluations';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import classes from './evaluations.module.css';

const PERIODS = [
  { value: '7', label: t`7 days` },
  { value: '30', label: t`30 days` },
  { value: '90', label: t`90 days` },
];

export function PlannerSection() {
  const project = useProject();
  const [wanted, setWanted] = useSearchParam('days');
  const days = PERIODS.some(({ value }) => value === wanted) ? (wanted ?? '30') : '30';
  const query = useQuery(plannerMeasuresQuery(project.id, Number(days)));
  return (
    <Section
      title={t`Planner`}
      description={t`From the chat turns of this project that have ended.`}
      framed
      actions={
        <SegmentedControl
          aria-label={t`Period`}
          size="xs"
          flex="none"
          data={PERIODS}
          value={days}
          onChange={setWanted}
        />
      }
    >
      {query.isPending && <Skeleton height={80} />}
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.data?.turns === 0 && (
        <EmptyState icon={Gauge} title={t`Nothing was planned in this time`}>
          {t`Ask something in the chat; its plan is counted here once it has ended.`}
        </EmptyState>
      )}
      {query.data && query.data.turns > 0 && <Measures measures={query.data} />}
    </Section>
  );
}

export function measuresInWords(found: PlannerMeasures): { label: string; value: string }[] {
  const latency = found.planner_latency_s;
  const deviations = Object.entries(found.deviations).map(([kind, n]) => `${n} ${kind}`);
  return [
    { label: t`Turns`, value: `${found.turns}` },
    { label: t`Plans made`, value: `${found.plans}` },
    { label: t`Completed`, value: share(found.completion_rate) },
    { label: t`Kept to the plan`, value: share(found.adherence_rate) },
    {
      label: t`Planning takes`,
      value: latency === null ? '–' : Object.entries(latency).map(inSeconds).join(', '),
    },
    { label: t`Not valid at first`, value: `${found.validation_failures}` },
    { label: t`Repaired`, value: share(found.repaired_rate) },
    { label: t`Fell back on rules`, value: share(found.fallback_rate) },
    { label: t`Deviations`, value: deviations.join(', ') || 'none' },
    { label: t`Figures without a source`, value: `${found.unsourced_figures}` },
  ];
}

function Measures({ measures }: { measures: PlannerMeasures }) {
  return (
    <dl className={classes.measures}>
      {measuresInWords(measures).map(({ label, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" size="sm" fw={500} className="tabular">
            {value}
          </Text>
        </div>
      ))}
    </dl>
  );
}

function share(value: number | null): string {
  return value === null ? '–' : `${Math.round(value * 100)} %`;
}

const SHARES: Record<string, string> = { p50: t`half within`, p95: t`95 % within` };

function inSeconds([name, value]: [string, number]): string {
  return `${SHARES[name] ?? name} ${value < 10 ? value.toFixed(2) : Math.round(value)} s`;
}
