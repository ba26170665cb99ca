/** What of a turn is worth showing beside its answer: charts, the last table, files. */
import { t } from '@lingui/core/macro';
import type { Turn, TurnCall } from '@/api/chat-types';
import type { Artifact } from '@/api/run-types';
import { tableOf, type ValueTable } from '@/components/value-table';

export interface Chart {
  key: string;
  spec: Record<string, unknown>;
  description: string;
}

export interface Shown {
  table: { title: string; key: string; table: ValueTable; rowsInAll: number } | null;
  charts: Chart[];
  /** Charts that are files of their own. */
  chartFiles: Artifact[];
  files: Artifact[];
}

/** A chart is a value with a Vega-Lite specification. */
export function chartIn(value: unknown): Omit<Chart, 'key'> | null {
  if (typeof value !== 'object' || value === null || !('spec' in value)) return null;
  const { spec } = value;
  if (typeof spec !== 'object' || spec === null || !('$schema' in spec)) return null;
  const about = 'description' in value ? String(value.description) : t`Chart`;
  return { spec, description: about };
}

/** Calls of the plan that counts in the end, as far as they worked and stand. */
export function callsOf({ steps }: Turn): TurnCall[] {
  const last = Math.max(0, ...steps.map(({ branch }) => branch));
  return steps
    .filter(({ branch }) => branch === last)
    .flatMap(({ calls }) => calls)
    .filter(({ state, undone }) => state === 'done' && !undone);
}

/** Tables about tables, such as a list of datasets, are shown too: the last one is what was asked for. */
export function shownOf(turn: Turn): Shown {
  const calls = callsOf(turn);
  const charts = calls.flatMap(({ key, value }) => {
    const chart = chartIn(value);
    return chart ? [{ key, ...chart }] : [];
  });
  if (turn.chart) charts.push({ key: 'answer', ...turn.chart });
  const artifacts = unique(calls.flatMap((call) => call.artifacts));
  const isChart = ({ media_type: type }: Artifact) => type.includes('vegalite');
  return {
    charts,
    table: lastTable(calls),
    // The same chart as a file would be drawn twice.
    chartFiles: charts.length > 0 ? [] : artifacts.filter(isChart),
    files: artifacts.filter((artifact) => !isChart(artifact)),
  };
}

function lastTable(calls: TurnCall[]): Shown['table'] {
  for (const { key, title, value } of calls.toReversed()) {
    const table = chartIn(value) ? null : tableOf(value);
    if (table && table.columns.length > 0) {
      return { key, title, table, rowsInAll: rowsInAll(value) ?? table.rows.length };
    }
  }
  return null;
}

function rowsInAll(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('rows_in_all' in value)) return null;
  return typeof value.rows_in_all === 'number' ? value.rows_in_all : null;
}

function unique(artifacts: Artifact[]): Artifact[] {
  const seen = new Set<string>();
  return artifacts.filter(({ digest }) => !seen.has(digest) && seen.add(digest));
}
