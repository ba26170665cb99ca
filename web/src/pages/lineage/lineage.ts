/** Lineage as a graph to draw and as steps to read. */
import type { Lineage, LineageNode } from '@/api/data-types';
import { fileName } from '@/api/files';
import type { GraphEdge, GraphNode } from '@/components/Graph';
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

export function drawn({ nodes, edges }: Lineage): { nodes: GraphNode[]; edges: GraphEdge[] } {
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      label: labelOf(node),
      kind: node.kind,
      details: [node.kind],
    })),
    edges: edges.map(({ from, to }) => ({ id: `${from} ${to}`, from, to })),
  };
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
    steps.find(({ inputs }) => inputs.some(({ id }) => id === nodeId))
  );
}
