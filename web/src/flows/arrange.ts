/** Tidies up a graph with dagre: few crossings, from left to right. */
import { graphlib, layout as arrangeWithDagre } from '@dagrejs/dagre';
import type { Point, Size } from './layout';

export interface Arrangement {
  nodes: { key: string; size: Size }[];
  edges: { before: string; after: string }[];
}

export function arrange({ nodes, edges }: Arrangement): Record<string, Point> {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 44, ranksep: 64 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { key, size } of nodes) graph.setNode(key, { ...size });
  for (const { before, after } of edges) graph.setEdge(before, after);
  arrangeWithDagre(graph);
  return Object.fromEntries(
    nodes.map(({ key, size }) => {
      const { x, y } = graph.node(key) as Point;
      return [key, { x: Math.round(x - size.width / 2), y: Math.round(y - size.height / 2) }];
    }),
  );
}
