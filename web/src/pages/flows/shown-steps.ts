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
