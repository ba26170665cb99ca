/** The nodes of a flow as a graph, each with the state it is in. */
import { insideSentence } from '@/language';
import type { FlowNode, RunDetail } from '@/api/run-types';
import type { GraphEdge, GraphNode } from '@/components/graph-layout';
import type { NodeStanding } from '@/api/runs';
import { itemsDone, lineText } from '@/components/line-counts';
import { stateLook } from '@/components/run-status';

export function nodeTitle({ title, id }: FlowNode): string {
  return title === undefined || title === '' ? id : title;
}

/** All nodes, those inside maps and loops too. */
export function nodesWithin(nodes: readonly FlowNode[]): FlowNode[] {
  return nodes.flatMap((node) => {
    const { body } = node as FlowNode & { body?: { nodes?: FlowNode[] } };
    return [node, ...nodesWithin(body?.nodes ?? [])];
  });
}

const NONE: ReadonlyMap<string, NodeStanding> = new Map();

type Standing = Pick<RunDetail, 'progress' | 'waits'>;

/** A node whose call is parked counts as held, whatever was noted before it stopped. */
export function nodeState({ progress, waits }: Standing, id: string): string {
  const isWaiting = (waits ?? []).some(
    ({ key }) => key === id || ['/', ':', '['].some((end) => key.startsWith(`${id}${end}`)),
  );
  return isWaiting ? 'held' : (progress?.nodes[id] ?? 'pending');
}

/** `gate.approved` leaves the node `gate` by its port `approved`. */
export function flowGraph(
  run: Standing & Pick<RunDetail, 'document'>,
  standings: ReadonlyMap<string, NodeStanding> = NONE,
) {
  const flow = run.document?.nodes ?? [];
  const parts = itemsDone(run.progress, flow);
  const known = new Set(flow.map(({ id }) => id));
  const nodes = flow.map((node): GraphNode => {
    const state = nodeState(run, node.id);
    return {
      id: node.id,
      label: nodeTitle(node),
      details: [`${node.tool ?? node.type} · ${insideSentence(stateLook(state).word)}`],
      kind: state,
    };
  });
  const edges = flow.flatMap(({ id, needs = [] }) =>
    needs.flatMap((need): GraphEdge[] => {
      const [from = '', port] = need.split('.');
      if (!known.has(from)) return [];
      const label = lineText(port ?? '', { standings, parts }, from, id);
      return [{ id: `${need}>${id}`, from, to: id, ...(label ? { label } : {}) }];
    }),
  );
  return { nodes, edges };
}
