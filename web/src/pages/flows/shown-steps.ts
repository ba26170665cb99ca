/** Which steps are chosen, stopped, or in which state, as the studio shows them. */
import type { RunDetail } from '@/api/run-types';
import type { NodeStanding } from '@/api/runs';
import { type FlowGraph, type FlowNode, nodesWithin } from '@/flows/graph';
import type { Layout } from '@/flows/layout';
import { nodeState } from '../run/flow-graph';
import { groupKey, noteKey, triggerKey } from './canvas-keys';
import { triggersOf } from './drawn';

const STOPPED: ReadonlySet<string> = new Set(['waiting', 'failed']);

/** What is chosen and still drawn: undo and other people take things away. */
export function stillThere(
  keys: readonly string[],
  graph: FlowGraph,
  layout: Layout,
  document: unknown,
): readonly string[] {
  const known = new Set([
    ...nodesWithin(graph).map(({ key }) => key),
    ...triggersOf(document).map((_, index) => triggerKey(index)),
    ...layout.notes.map(({ id }) => noteKey(id)),
    ...layout.groups.map(({ id }) => groupKey(id)),
  ]);
  return keys.every((key) => known.has(key)) ? keys : keys.filter((key) => known.has(key));
}

/** The steps at which the run waits or failed; of a step around others, those inside it. */
export function stoppedNodes(
  nodes: readonly FlowNode[],
  standings: ReadonlyMap<string, NodeStanding>,
): FlowNode[] {
  const stopped = nodes.filter(({ key }) => STOPPED.has(standings.get(key)?.state ?? ''));
  return stopped.filter(({ key }) => !stopped.some((other) => other.key.startsWith(`${key}/`)));
}

/** A run tells of its outermost nodes; of those inside others its journal does. */
export function stateIn(
  run: RunDetail,
  key: string,
  standings: ReadonlyMap<string, NodeStanding>,
): string | null {
  const state = nodeState(run, key);
  if (!key.includes('/') || state === 'held') return state;
  return standings.get(key)?.state ?? null;
}

/** The branch of the data that the run that is shown works on, or those that the triggers of the flow start. */
export function branchOf(run: RunDetail | undefined, document: unknown): string {
  const granted = (run?.grant ?? {}) as { branch?: unknown };
  if (typeof granted.branch === 'string' && granted.branch !== '') return granted.branch;
  return run === undefined ? branchOfTriggers(document) : 'main';
}

/** The branch that all triggers of a flow have its runs work on; main where they differ or there is none. */
function branchOfTriggers(document: unknown): string {
  const { triggers } = (document ?? {}) as { triggers?: unknown };
  const named = (Array.isArray(triggers) ? triggers : []).map((each: unknown) => {
    const { type, branch } = (each ?? {}) as Record<string, unknown>;
    return type === 'dataset_changed' && typeof branch === 'string' ? branch : 'main';
  });
  const [first] = named;
  return first !== undefined && named.every((each) => each === first) ? first : 'main';
}

/** The branch that a step reads: the one that it names, or that of its run where only the run knows it. */
export function branchRead(
  { branch }: Readonly<Record<string, unknown>>,
  runBranch: string,
): string {
  return typeof branch === 'string' && branch !== '' && !branch.includes('${') ? branch : runBranch;
}
