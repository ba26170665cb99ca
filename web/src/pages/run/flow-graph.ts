/** The nodes of a flow as a graph, each with the state it is in. */
import type { FlowNode, RunDetail } from '@/api/run-types';
import type { GraphEdge, GraphNode } from '@/components/graph-layout';
import { stateLook } from '@/components/run-status';

export function nodeTitle({ title, id }: FlowNode): string {
  return title === undefined || title === '' ? id : title;
}

export function nodeState({ progress }: Pick<RunDetail, 'progress'>, id: string): string {
  return progress?.nodes[id] ?? 'pending';
}

/** `gate.approved` leaves the node `gate` by its port `approved`. */
export function flowGraph(run: Pick<RunDetail, 'progress' | 'document'>) {
  const flow = run.document?.nodes ?? [];
  const known = new Set(flow.map(({ id }) => id));
  const nodes = flow.map((node): GraphNode => {
    const state = nodeState(run, node.id);
    return {
      id: node.id,
      label: nodeTitle(node),
      details: [`${node.tool ?? node.type} · ${stateLook(state).word.toLowerCase()}`],
      kind: state,
    };
  });
  const edges = flow.flatMap(({ id, needs = [] }) =>
    needs.flatMap((need): GraphEdge[] => {
      const [from = '', port] = need.split('.');
      if (!known.has(from)) return [];
      return [{ id: `${need}>${id}`, from, to: id, ...(port ? { label: port } : {}) }];
    }),
  );
  return { nodes, edges };
}
