/** Runs as they are shown on the canvas: which node a key of the journal belongs to, and facts in few characters. */
import { plural, t } from '@lingui/core/macro';
import type { NodePrice, Price } from '@/api/playbook-tests';
import type { NodeStanding } from '@/api/runs';
import { projectPath } from '@/app/project';
import { durationText } from '@/components/duration';
import { cutOff } from '@/components/line-counts';

/** The page of a run, opened at one of its calls. */
export function callPath(projectId: string, runId: string, key: string): string {
  return `${projectPath(projectId, 'runs', runId)}?call=${encodeURIComponent(key)}`;
}

/** Whether a key such as `each[3]/show:wait` is about the node `each/show`. */
export function keyBelongsTo(key: string, node: string): boolean {
  const plain = key
    .split('/')
    .map((part) => (part.split(':')[0] ?? '').replace(/(\[\d+\]|#\d+|~\d+)+$/, ''));
  const parts = node.split('/');
  let at = 0;
  for (const part of plain) if (part === parts[at]) at += 1;
  return at === parts.length && plain[0] === parts[0];
}

/** Whether a call's key is that of the node itself, not of one inside it. */
export function isCallOf(key: string, node: string): boolean {
  return keyBelongsTo(key, node) && !key.endsWith('/') && lastPart(key) === lastPart(node);
}

const lastPart = (key: string) =>
  (key.split('/').at(-1)?.split(':')[0] ?? '').replace(/(\[\d+\]|#\d+|~\d+)+$/, '');

/** "12 times · 1.2 s · $0.01", for the box of a node. */
export function standingText(standing: NodeStanding): string {
  const { times, seconds, usd } = standing;
  const cost = Number(usd);
  return [
    cutOff(standing) === null ? '' : t`not all rows`,
    times > 1 ? `${times}×` : '',
    seconds > 0 ? durationText(seconds * 1000) : '',
    cost > 0 ? `$${cost.toFixed(cost < 1 ? 4 : 2)}` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What is other than in the run that it is compared with: "0.4 s, was 0.9 s · other output". */
export function comparedText(now: NodeStanding, before: NodeStanding | undefined): string {
  const told = standingText(now);
  if (before === undefined) return [told, t`not in the other run`].filter(Boolean).join(' · ');
  const was = now.state === before.state ? standingText(before) : before.state;
  return [
    was === '' || was === told ? told : t`${told}${told === '' ? '' : ', '}was ${was}`,
    isOther(now.sample, before.sample) ? t`other output` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

export const isOther = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

type Expected = Pick<NodePrice, 'usd' | 'most_usd' | 'seconds'> & Partial<Passes>;
type Passes = Pick<NodePrice, 'times' | 'most_times' | 'each_usd' | 'most_each_usd'>;

/** What a step of a run that has not begun will take: "about 1.2 s · $0.01", "about $0.12 (40 × $0.003)". */
export function expectedText(expected: Expected): string {
  const { usd, most_usd: most, seconds } = expected;
  const parts = [
    seconds >= 0.1 ? durationText(seconds * 1000) : '',
    usd === null || (most ?? usd) > 0 ? `${rangeText(usd, most)}${perItemText(expected)}` : '',
  ].filter(Boolean);
  if (parts.length === 0) return '';
  return usd === null && parts.length === 1 ? parts.join('') : t`about ${parts.join(' · ')}`;
}

type RunPrice = Omit<Price, 'inner' | 'nodes'> & {
  nodes: readonly Pick<NodePrice, 'is_estimate'>[];
};

/** What the next run will cost, as past ones did or by an estimate, and which steps that leaves out. */
export function runPriceText(price: RunPrice): string {
  const { runs, usd, most_usd: most, unknown, nodes } = price;
  const without = unknown.length > 0 ? t` The price of ${unknown.join(', ')} is not known.` : '';
  if (usd === null) return without.trim();
  const isEstimate = nodes.some((each) => each.is_estimate);
  if (nodes.length === 0 && runs === 0) return '';
  if ((most ?? usd) === 0 && !without) return t`Past runs cost nothing.`;
  const past = plural(runs, { one: `as the last one did`, other: `the average of ${runs} runs` });
  const known = isEstimate ? t`by an estimate; the settings of each step say how` : past;
  return t`A run costs about ${rangeText(usd, most)}, ${known}.${without}`;
}

/** How often a step inside others runs, and what it costs each time; empty for one that runs once. */
function perItemText({ usd, times, most_times: most, ...each }: Expected): string {
  if (usd === null || times === undefined) return '';
  if (times === null) return t` for each item`;
  const range = roundedText(times) === roundedText(most ?? times);
  const count = range
    ? roundedText(times)
    : t`${roundedText(times)} to ${roundedText(most ?? times)}`;
  if (count === '1') return '';
  return ` (${count} × ${rangeText(each.each_usd ?? null, each.most_each_usd ?? null)})`;
}

const roundedText = (count: number) => count.toLocaleString('en', { maximumFractionDigits: 1 });

/** Prices by the key of the step on the canvas, of steps inside others too. */
export function pricesByNode(price: Price | undefined): ReadonlyMap<string, NodePrice> {
  return new Map(
    [...(price?.nodes ?? []), ...(price?.inner ?? [])].map((each) => [each.node, each]),
  );
}

function rangeText(least: number | null, most: number | null): string {
  if (least === null) return t`price not known`;
  const [from, to] = [dollars(least), dollars(most ?? least)];
  return from === to ? from : t`${from} to ${to}`;
}

const dollars = (usd: number) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
