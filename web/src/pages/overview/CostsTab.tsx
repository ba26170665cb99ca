/** Spending day by day, by any dimension, with a forecast. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, SegmentedControl, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Coins, Download } from 'lucide-react';
import { useState } from 'react';
import { type BudgetItem, budgetsQuery } from '@/api/budgets';
import { type Costs, costsFile, costsQuery, type Dimension } from '@/api/observe';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { compact, dollarRange, dollars } from '@/components/amounts';
import { CostBars } from './CostBars';
import { CountLink } from './CountLink';
import { figuresOf, runsBehind } from './figure-links';
import classes from './overview.module.css';
import { CURRENT_PERIOD, PERIOD_NAMES } from './period-words';

const DIMENSIONS: { value: Dimension; label: string }[] = [
  { value: 'flow', label: t`Flow` },
  { value: 'model', label: t`Model` },
  { value: 'agent', label: t`Agent` },
  { value: 'tool', label: t`Tool` },
  { value: 'connector', label: t`Connector` },
  { value: 'person', label: t`Person` },
  { value: 'tag', label: t`Tag` },
  { value: 'project', label: t`Project` },
];
const PERIODS = [
  { value: '7', label: t`7 days` },
  { value: '30', label: t`30 days` },
  { value: '90', label: t`90 days` },
];
const NO_BUDGETS: BudgetItem[] = [];

interface Sum {
  name: string;
  title: string;
  usd: number;
  tokens: number;
  count: number;
}

export default function CostsTab() {
  const project = useProject();
  const formats = useFormats();
  const [by, setBy] = useState<Dimension>('flow');
  const [days, setDays] = useState('30');
  const query = useQuery(costsQuery(project.id, by, Number(days)));
  const budgets = useQuery(budgetsQuery(project.id)).data?.items ?? NO_BUDGETS;
  const costs = query.data;
  if (query.isError && !costs)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!costs) return <LoadingLines />;
  const sums = summed(costs);
  // Sums of several projects have no budget in common.
  const ofProject = by === 'project' ? NO_BUDGETS : budgets.filter(isOfProject);
  return (
    <div className={classes.column}>
      <div className={classes.choices}>
        <SegmentedControl aria-label={t`Period`} data={PERIODS} value={days} onChange={setDays} />
        <Select
          aria-label={t`Spending by`}
          data={DIMENSIONS}
          value={by}
          allowDeselect={false}
          onChange={(value) => value !== null && setBy(value)}
        />
        <Button
          component="a"
          variant="default"
          href={costsFile(project.id, by, Number(days))}
          leftSection={<Download size={14} aria-hidden />}
        >
          {t`Download CSV`}
        </Button>
      </div>
      {by === 'project' && (
        <Text size="sm" c="dimmed">
          {t`All projects of your organisation that you can open, with the playbooks that you may see.`}
        </Text>
      )}
      {sums.length === 0 ? (
        <EmptyState icon={Coins} picture="chart" title={t`Nothing was spent in this period`}>
          {t`Requests to models and calls of tools are listed here with their tokens and cost.`}
        </EmptyState>
      ) : (
        <>
          <Section
            title={t`${dollars(formats, costs.usd)} in ${days} days`}
            description={<Forecasts costs={costs} budgets={ofProject} />}
            framed
          >
            <CostBars costs={costs} bars={sums} budgets={ofProject} />
          </Section>
          <SumTable
            by={by}
            since={costs.first}
            sums={sums}
            budgets={budgets.filter(({ kind }) => kind === by)}
          />
        </>
      )}
    </div>
  );
}

function summed(costs: Costs): Sum[] {
  const found = new Map<string, Sum>();
  for (const line of costs.lines) {
    const sum = found.get(line.name) ?? {
      name: line.name,
      title: line.title,
      usd: 0,
      tokens: 0,
      count: 0,
    };
    sum.usd += line.usd;
    sum.tokens += line.input_tokens + line.output_tokens;
    sum.count += line.count;
    found.set(line.name, sum);
  }
  return [...found.values()].sort(
    (a, b) => b.usd - a.usd || b.tokens - a.tokens || b.count - a.count,
  );
}

function isOfProject({ kind, usd }: BudgetItem): boolean {
  return kind === 'project' && usd.limit !== null;
}

function Forecasts({ costs, budgets }: { costs: Costs; budgets: BudgetItem[] }) {
  const formats = useFormats();
  if (costs.forecasts.length === 0)
    return (
      <>
        {t`A forecast needs a whole week of spending. There are ${formats.number(costs.history_days)} whole days so far.`}
      </>
    );
  const words = costs.forecasts.map(({ days, usd, low, high }) => {
    const band =
      low === null || high === null
        ? t`too few past forecasts for a range`
        : t`${dollars(formats, low)} to ${dollars(formats, high)}`;
    return t`Next ${days} days: about ${dollars(formats, usd)} (${band}).`;
  });
  const resets = budgets.flatMap((budget) => resetText(formats, budget));
  return <>{[...words, ...resets].join(' ')}</>;
}

/** What a budget will have spent when it resets. */
function resetText(formats: Formats, { period, usd, expected, resets_at }: BudgetItem): string[] {
  if (usd.limit === null || expected === null) return [];
  const isOver = expected.usd > usd.limit;
  return [
    isOver
      ? t`Until the budget of ${dollars(formats, usd.limit)} per ${PERIOD_NAMES[period]} resets on ${formats.date(resets_at)}: about ${dollarRange(formats, expected)}, more than the budget.`
      : t`Until the budget of ${dollars(formats, usd.limit)} per ${PERIOD_NAMES[period]} resets on ${formats.date(resets_at)}: about ${dollarRange(formats, expected)}.`,
  ];
}

interface SumTableProps {
  by: Dimension;
  since: string;
  sums: Sum[];
  /** Those of what the sums are of. */
  budgets: BudgetItem[];
}

function SumTable({ by, since, sums, budgets }: SumTableProps) {
  const project = useProject();
  const formats = useFormats();
  return (
    <Section title={t`Sums`} framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label={t`Sums`} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t`Name`}</th>
              <th scope="col">{t`Spent`}</th>
              <th scope="col">{t`Tokens`}</th>
              <th scope="col">{t`Requests and calls`}</th>
              {budgets.length > 0 && <th scope="col">{t`Budget`}</th>}
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={sum.name}>
                <th scope="row">
                  <SumName sum={sum} by={by} runs={runs(project.id, by, sum.name, since)} />
                </th>
                <td>{dollars(formats, sum.usd)}</td>
                <td>{compact(formats, sum.tokens)}</td>
                <td>
                  <Count sum={sum} runs={runs(project.id, by, sum.name, since)} />
                </td>
                {budgets.length > 0 && (
                  <td>
                    {budgets
                      .filter(({ name }) => name === sum.name)
                      .map((budget) => usedText(formats, budget))
                      .join(', ') || '–'}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** The runs behind a sum; null where a list of runs cannot tell, as for tags and for other projects. */
function runs(projectId: string, by: Dimension, name: string, first: string): string | null {
  const since = `${first}T00:00:00Z`;
  switch (by) {
    case 'flow':
      return runsBehind(projectId, { since, flow: name });
    case 'person':
      return runsBehind(projectId, { since, created_by: name });
    case 'tag':
    case 'project':
      return null;
    default:
      return name === '' ? null : runsBehind(projectId, { since, used: by, name });
  }
}

function SumName({ sum, by, runs: list }: { sum: Sum; by: Dimension; runs: string | null }) {
  const project = useProject();
  const own = sum.name === '' ? null : figuresOf(by, sum.name);
  let to = own === null ? list : projectPath(project.id, own);
  if (by === 'project') to = `${projectPath(sum.name, 'overview')}?tab=costs`;
  if (to === null) return <>{sum.title}</>;
  return (
    <Anchor component={Link} to={to} inherit>
      {sum.title}
    </Anchor>
  );
}

function Count({ sum, runs: list }: { sum: Sum; runs: string | null }) {
  const formats = useFormats();
  if (list === null) return <>{formats.number(sum.count)}</>;
  return <CountLink count={sum.count} of={t`runs of ${sum.title}`} to={list} />;
}

/** "$3.10 of $5.00 this week". */
function usedText(formats: Formats, { usd, tokens, period }: BudgetItem): string {
  const parts = [];
  if (usd.limit !== null)
    parts.push(t`${dollars(formats, usd.spent)} of ${dollars(formats, usd.limit)}`);
  if (tokens.limit !== null)
    parts.push(t`${compact(formats, tokens.spent)} of ${compact(formats, tokens.limit)} tokens`);
  return `${parts.join(', ')} ${CURRENT_PERIOD[period]}`;
}
