/** The overview from the document that is pushed: names with titles, the largest first. */
import { t } from '@lingui/core/macro';
import type { MetricsDocument } from '@/api/metrics';
import type { Overview, Ranked, Totals } from '@/api/observe';
import { UNNAMED_AGENT } from './figure-links';

const NANO = 1e9;
const HOUR = 3_600_000;
const DAY_HOURS = 24;
/** The heat map of a longer period is by day. */
export const MOST_HOURS = 48;
const MOST_FLOWS = 12;
const MOST_NAMES = 8;

export function overviewOf(document: MetricsDocument): Overview {
  const title = (flow: string) => document.titles[flow] ?? flow;
  const start = document.first_hour * HOUR;
  return {
    since: new Date(start).toISOString(),
    hours: document.hours,
    live: document.live,
    now: totalsOf(document.now),
    before: totalsOf(document.before),
    live_usd: document.live_nano_usd / NANO,
    today_usd: document.today_nano_usd / NANO,
    approvals: document.approvals,
    queue: document.queue,
    triggers: Object.entries(document.triggers).flatMap(([id, each]) =>
      each === null ? [] : [{ id, ...each }],
    ),
    titles: Object.fromEntries(Object.keys(document.heat).map((flow) => [flow, title(flow)])),
    heat: heatOf(document, start),
    ranked: Object.entries(document.ranked).flatMap(([kind, names]) =>
      rankedOf(kind as Ranked['kind'], names, title),
    ),
    failing: Object.entries(document.failing)
      .filter(([, { failed }]) => failed > 0)
      .map(([flow, each]) => ({ flow, title: title(flow), ...each }))
      .sort((a, b) => b.failed - a.failed)
      .slice(0, MOST_NAMES),
    is_complete: document.is_complete,
  };
}

function totalsOf({ nano_usd, milliseconds, ...rest }: MetricsDocument['now']): Totals {
  return { ...rest, usd: nano_usd / NANO, seconds: milliseconds / 1000 };
}

function heatOf({ heat, hours }: MetricsDocument, start: number): Overview['heat'] {
  const step = hours > MOST_HOURS ? DAY_HOURS * HOUR : HOUR;
  const weight = (flow: string) =>
    Object.values(heat[flow] ?? {}).reduce((sum, { tokens, runs }) => sum + tokens + runs / 1e6, 0);
  const flows = Object.keys(heat).sort((a, b) => weight(b) - weight(a));
  return flows.slice(0, MOST_FLOWS).flatMap((flow) =>
    Object.entries(heat[flow] ?? {}).map(([bucket, cell]) => ({
      flow,
      hour: new Date(start + Number(bucket) * step).toISOString(),
      ...cell,
    })),
  );
}

function titleOf(kind: Ranked['kind'], name: string, title: (flow: string) => string): string {
  if (kind === 'flow') return title(name);
  return kind === 'agent' && name === UNNAMED_AGENT ? t`Unnamed agents in flows` : name;
}

function rankedOf(
  kind: Ranked['kind'],
  names: NonNullable<MetricsDocument['ranked'][string]>,
  title: (flow: string) => string,
): Ranked[] {
  return Object.entries(names)
    .map(([name, { nano_usd, milliseconds, ...rest }]) => ({
      kind,
      name,
      title: titleOf(kind, name, title),
      usd: nano_usd / NANO,
      seconds: milliseconds / 1000,
      ...rest,
    }))
    .sort((a, b) => b.usd - a.usd || b.tokens - a.tokens || b.count - a.count)
    .slice(0, MOST_NAMES);
}
