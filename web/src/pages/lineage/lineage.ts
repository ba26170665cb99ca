/** Lineage as a graph to draw and as steps to read. */
import { t } from '@lingui/core/macro';
import type { Lineage, LineageNode } from '@/api/data-types';
import { fileName } from '@/api/files';
import type { GraphEdge, GraphNode } from '@/components/graph-layout';
import { operationName } from '@/components/operation-name';

export interface Step {
  id: string;
  operation: string;
  inputs: LineageNode[];
  output: LineageNode;
  columns: { output: string; inputs: [string, string][]; transformation: string }[];
}

export function labelOf({ kind, label }: LineageNode): string {
  if (kind === 'file') return fileName(label);
  return kind === 'operation' ? operationName(label) : label;
}

/** A dataset that was changed in place is both read and made: its earlier state gets a box of its own. */
function earlier(id: string): string {
  return t`${id} before`;
}

export function drawn({ nodes, edges }: Lineage): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const datasets = new Set(nodes.filter(({ kind }) => kind === 'dataset').map(({ id }) => id));
  const isMadeBy = (step: string, source: string) =>
    datasets.has(source) && edges.some(({ from, to }) => from === step && to === source);
  const boxes = nodes.map((node): GraphNode => ({
    id: node.id,
    label: labelOf(node),
    kind: node.kind,
    details: [node.kind],
  }));
  const lines = edges.map(({ from, to }): GraphEdge => {
    const source = isMadeBy(to, from) ? earlier(from) : from;
    return { id: `${source} ${to}`, from: source, to };
  });
  const added = boxes
    .filter(({ id }) => lines.some(({ from }) => from === earlier(id)))
    .map((box) => ({ ...box, id: earlier(box.id), details: [t`earlier version`] }));
  return { nodes: [...boxes, ...added], edges: lines };
}

/** Every operation with what it read and what it made. */
export function stepsOf({ nodes, edges }: Lineage): Step[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  return nodes
    .filter(({ kind }) => kind === 'operation')
    .flatMap((node) => {
      const output = edges
        .filter(({ from }) => from === node.id)
        .flatMap(({ to }) => known.get(to) ?? [])[0];
      if (!output) return [];
      const inputs = edges
        .filter(({ to }) => to === node.id)
        .flatMap(({ from }) => known.get(from) ?? []);
      return [
        { id: node.id, operation: labelOf(node), inputs, output, columns: node.columns ?? [] },
      ];
    });
}

/** The step that a node is about: itself, the one that made it, or the first that reads it. */
export function stepFor(steps: Step[], nodeId: string | null): Step | undefined {
  return (
    steps.find(({ id }) => id === nodeId) ??
    steps.find(({ output }) => output.id === nodeId) ??
    steps.find(({ inputs }) => inputs.some(({ id }) => id === nodeId || earlier(id) === nodeId))
  );
}
