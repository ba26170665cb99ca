/** Spending day by day, by any dimension, with a forecast. */
import { Button, SegmentedControl, Select, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Coins, Download } from 'lucide-react';
import { useState } from 'react';
import { budgetsQuery } from '@/api/budgets';
import { type Costs, costsFile, costsQuery, type Dimension } from '@/api/observe';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { compact, dollarRange, dollars } from '@/components/amounts';
import classes from './overview.module.css';

const DIMENSIONS: { value: Dimension; label: string }[] = [
  { value: 'flow', label: 'Flow' },
  { value: 'model', label: 'Model' },
  { value: 'agent', label: 'Agent' },
  { value: 'tool', label: 'Tool' },
  { value: 'connector', label: 'Connector' },
  { value: 'person', label: 'Person' },
  { value: 'tag', label: 'Tag' },
  { value: 'project', label: 'Project' },
];
const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];
/** More colours could not be told apart. */
const COLOURS = ['#127a75', '#b7791f', '#4c6ef5', '#c2255c', '#5c940d', '#7048e8'];
const OTHERS = '#868e96';
const DAY = 86_400_000;

interface Sum {
  name: string;
  title: string;
  usd: number;
  tokens: number;
  count: number;
  colour: string;
}

export default function CostsTab() {
  const project = useProject();
  const formats = useFormats();
  const [by, setBy] = useState<Dimension>('flow');
  const [days, setDays] = useState('30');
  const query = useQuery(costsQuery(project.id, by, Number(days)));
  const costs = query.data;
  if (query.isError && !costs)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!costs) return <LoadingLines />;
  const sums = summed(costs);
  return (
    <div className={classes.column}>
      <div className={classes.choices}>
        <SegmentedControl aria-label="Period" data={PERIODS} value={days} onChange={setDays} />
        <Select
          aria-label="Spending by"
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
          Download CSV
        </Button>
      </div>
      {by === 'project' && (
        <Text size="sm" c="dimmed">
          All projects of your organisation that you can open, with the playbooks that you may see.
        </Text>
      )}
      {sums.length === 0 ? (
        <EmptyState icon={Coins} picture="chart" title="Nothing was spent in this period">
          Requests to models and calls of tools are listed here with their tokens and cost.
        </EmptyState>
      ) : (
        <>
          <Section
            title={`${dollars(formats, costs.usd)} in ${days} days`}
            description={<Forecasts costs={costs} formats={formats} />}
            framed
          >
            <Bars costs={costs} sums={sums} formats={formats} />
          </Section>
          <SumTable sums={sums} formats={formats} />
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
      colour: OTHERS,
    };
    sum.usd += line.usd;
    sum.tokens += line.input_tokens + line.output_tokens;
    sum.count += line.count;
    found.set(line.name, sum);
  }
  const sums = [...found.values()].sort(
    (a, b) => b.usd - a.usd || b.tokens - a.tokens || b.count - a.count,
  );
  return sums.map((sum, index) => ({ ...sum, colour: COLOURS[index] ?? OTHERS }));
}

function Forecasts({ costs, formats }: { costs: Costs; formats: Formats }) {
  if (costs.forecasts.length === 0)
    return (
      <>
        A forecast needs a whole week of spending. There are {formats.number(costs.history_days)}{' '}
        whole days so far.
      </>
    );
  const words = costs.forecasts.map(({ days, usd, low, high }) => {
    const band =
      low === null || high === null
        ? 'too few past forecasts for a range'
        : `${dollars(formats, low)} to ${dollars(formats, high)}`;
    return `Next ${days} days: about ${dollars(formats, usd)} (${band}).`;
  });
  return (
    <>
      {words.join(' ')} <ProjectBudgets formats={formats} />
    </>
  );
}

/** What the budgets of the whole project will have spent when they reset. */
function ProjectBudgets({ formats }: { formats: Formats }) {
  const project = useProject();
  const budgets = useQuery(budgetsQuery(project.id)).data?.items ?? [];
  const words = budgets.flatMap(({ kind, period, usd, expected, resets_at }) => {
    if (kind !== 'project' || usd.limit === null || expected === null) return [];
    const isOver = expected.usd > usd.limit;
    return `Until the budget of ${dollars(formats, usd.limit)} per ${period} resets on ${formats.date(resets_at)}: about ${dollarRange(formats, expected)}${isOver ? ', more than the budget' : ''}.`;
  });
  return <>{words.join(' ')}</>;
}

function Bars({ costs, sums, formats }: { costs: Costs; sums: Sum[]; formats: Formats }) {
  const byMoney = costs.usd > 0;
  const start = Date.parse(costs.first);
  const count = Math.round((Date.parse(costs.last) - start) / DAY) + 1;
  const days = Array.from({ length: count }, () => new Map<string, number>());
  for (const line of costs.lines) {
    const at = days[Math.round((Date.parse(line.day) - start) / DAY)];
    at?.set(line.name, (at.get(line.name) ?? 0) + (byMoney ? line.usd : line.count));
  }
  const total = (day: Map<string, number>) => [...day.values()].reduce((a, b) => a + b, 0);
  const most = Math.max(...days.map(total), Number.MIN_VALUE);
  const amount = (value: number) =>
    byMoney ? dollars(formats, value) : `${formats.number(value)} requests and calls`;
  const dayName = (index: number) => formats.date(`${isoDay(start, index)}T12:00:00Z`);
  return (
    <>
      {!byMoney && (
        <Text size="sm" c="dimmed" px="sm" pt="xs">
          Nothing had a price, so the bars count requests and calls.
        </Text>
      )}
      <div className={classes.bars} role="img" aria-label="By day; the table below has the sums">
        {days.map((day, index) => (
          <Tooltip key={isoDay(start, index)} label={`${dayName(index)}: ${amount(total(day))}`}>
            <div className={classes.bar}>
              {sums.map(({ name, colour }) => (
                <span
                  key={name}
                  style={{ height: `${((day.get(name) ?? 0) / most) * 100}%`, background: colour }}
                />
              ))}
            </div>
          </Tooltip>
        ))}
      </div>
      <p className={classes.scale}>
        <span>{dayName(0)}</span>
        <span>{dayName(count - 1)}</span>
      </p>
      <ul className={classes.legend}>
        {sums.slice(0, COLOURS.length).map(({ name, title, colour }) => (
          <li key={name}>
            <span className={classes.swatch} style={{ background: colour }} aria-hidden />
            {title}
          </li>
        ))}
        {sums.length > COLOURS.length && (
          <li>
            <span className={classes.swatch} style={{ background: OTHERS }} aria-hidden />
            {formats.number(sums.length - COLOURS.length)} others
          </li>
        )}
      </ul>
    </>
  );
}

function isoDay(start: number, index: number): string {
  return new Date(start + index * DAY).toISOString().slice(0, 10);
}

function SumTable({ sums, formats }: { sums: Sum[]; formats: Formats }) {
  return (
    <Section title="Sums" framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label="Sums" tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Spent</th>
              <th scope="col">Tokens</th>
              <th scope="col">Requests and calls</th>
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={sum.name}>
                <th scope="row">{sum.title}</th>
                <td>{dollars(formats, sum.usd)}</td>
                <td>{compact(formats, sum.tokens)}</td>
                <td>{formats.number(sum.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
