/** How much went along each line of a flow in a run: rows, items of a list, or how often a step ran. */
import { t } from '@lingui/core/macro';
import type { Run } from '@/api/run-types';
import type { NodeStanding } from '@/api/runs';

/** How many items of a list are done, and how many there are. */
export interface Parts {
  done: number;
  total: number;
}

export interface Counted {
  standings: ReadonlyMap<string, NodeStanding>;
  parts?: Readonly<Record<string, Parts>> | undefined;
}

/**
 * What went along a line: rows or items of the step before it, items of a list, or how often the step after it ran. Of a
 * step with several ways out only the last says how often each was taken.
 */
function countText(
  { standings, parts }: Counted,
  before: string,
  after: string,
  port: string,
): string {
  const given = standings.get(before);
  const list = parts?.[before];
  if (port === '' && list) return partsText(list);
  const times = standings.get(after)?.times ?? 0;
  if (given && port !== 'error' && (port === '' || times <= 1)) return sizeText(given);
  return timesText(times);
}

const timesText = (times: number) => (times > 1 ? `${times.toLocaleString('en')}×` : '');

/** Items of a list that went along an edge: "12 of 3,000" while it runs, "3,000" at its end. */
function partsText({ done, total }: Parts): string {
  const all = total.toLocaleString('en');
  return done >= total ? all : t`${done.toLocaleString('en')} of ${all}`;
}

/** How much went along an edge: rows or items of the node before it. */
export function sizeText(standing: NodeStanding): string {
  const { size, times } = standing;
  if (size === null) return timesText(times);
  return `${size.toLocaleString('en')}${cutOff(standing) === null ? '' : '+'}`;
}

/** Why a step gave less than there was; null where it gave everything. */
export function cutOff({ sample }: Pick<NodeStanding, 'sample'>): string | null {
  const told = (sample as { truncated?: unknown } | null | undefined)?.truncated;
  return typeof told === 'string' ? told : null;
}

/** The way out, and how much went along it. */
export function lineText(port: string, run: Counted, before: string, after: string): string {
  return [port, countText(run, before, after, port)].filter(Boolean).join(' · ');
}

/** How many items the lists of a run have done; branches side by side are no items. */
export function itemsDone(
  progress: Run['progress'],
  nodes: readonly { id: string; type: string }[],
): Readonly<Record<string, Parts>> {
  const lists = new Set(nodes.flatMap(({ id, type }) => (type === 'map' ? [id] : [])));
  return Object.fromEntries(Object.entries(progress?.parts ?? {}).filter(([id]) => lists.has(id)));
}
