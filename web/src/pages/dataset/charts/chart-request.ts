/** What a chart shows: its kind and the columns it draws. */
import { t } from '@lingui/core/macro';

export interface ChartRequest {
  kind: string;
  x?: string | null;
  y?: string | null;
  colour?: string | null;
  value?: string | null;
  aggregate?: string | null;
  /** The period of a date on the axis. */
  time_unit?: string | null;
  [option: string]: unknown;
}

export interface DrawnChart {
  spec: Record<string, unknown>;
  title: string;
  description: string;
  notes: string[];
}

export type ChartField = 'x' | 'y' | 'colour' | 'value' | 'aggregate' | 'time_unit';

/** The fields each kind of chart has; those with an exclamation mark it cannot do without. */
const FIELDS: Record<string, string[]> = {
  bar: ['x!', 'time_unit', 'y', 'aggregate', 'colour'],
  line: ['x!', 'time_unit', 'y', 'aggregate', 'colour'],
  area: ['x!', 'time_unit', 'y', 'aggregate', 'colour'],
  scatter: ['x!', 'y!', 'colour'],
  histogram: ['x!', 'colour'],
  heatmap: ['x!', 'time_unit', 'y!', 'value', 'aggregate'],
  pie: ['x!', 'time_unit', 'y', 'aggregate'],
  box: ['y!', 'x'],
  waterfall: ['x!', 'time_unit', 'y!', 'aggregate'],
};

export const CHART_KINDS = Object.keys(FIELDS);
export const AGGREGATES = ['count', 'distinct', 'sum', 'mean', 'median', 'min', 'max'];
export const PERIODS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

export function fieldsFor(kind: string): { field: ChartField; required: boolean }[] {
  return (FIELDS[kind] ?? []).map((name) => ({
    field: name.replace('!', '') as ChartField,
    required: name.endsWith('!'),
  }));
}

/** The chart as another kind: columns stay where both have the field. */
export function withKind(chart: ChartRequest, kind: string): ChartRequest {
  const kept = fieldsFor(kind).map(({ field }) => [field, chart[field] ?? null]);
  return { kind, ...(Object.fromEntries(kept) as Partial<ChartRequest>) };
}

export function isComplete(chart: ChartRequest): boolean {
  return fieldsFor(chart.kind).every(({ field, required }) => !required || Boolean(chart[field]));
}

/** "bar: employees by segment", for the list of suggestions. */
export function describeChart({ kind, x, y, colour, aggregate }: ChartRequest): string {
  const measured = y ? `${aggregate ? t`${aggregate} of ` : ''}${y}` : 'rows';
  const by = x ? t` by ${x}` : '';
  const and = colour ? t` and ${colour}` : '';
  if (kind === 'histogram') return t`Histogram of ${x ?? ''}`;
  const name = kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${name}: ${measured}${by}${and}`;
}

/** What is sent: nothing that is empty. */
export function asRequest(chart: ChartRequest): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(chart).filter(([, value]) => value !== null && value !== undefined),
  );
}
