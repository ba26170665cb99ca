/** A graph laid out from left to right; for the eyes only, pages also say the same in a list. */
import { useComputedColorScheme } from '@mantine/core';
import { graphlib, layout } from '@dagrejs/dagre';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useMemo } from 'react';
import classes from './Graph.module.css';

export interface GraphNode {
  id: string;
  label: string;
  /** Smaller lines below the label. */
  details: string[];
  kind: string;
}

export interface GraphEdge {
  id: string;
  from: string;
  to: string;
  label?: string;
  isWeak?: boolean;
}

interface Props {
  label: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  selected?: string | null;
  onSelect?: (id: string) => void;
}

type Drawn = Node<{ node: GraphNode }, 'box'>;

const WIDTH = 210;
const LINE = 17;

function heightOf({ details }: GraphNode): number {
  return 38 + details.length * LINE;
}

/** Places for all nodes, from left to right in the direction of the edges. */
function placed(nodes: GraphNode[], edges: GraphEdge[]): Drawn[] {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 110 });
  graph.setDefaultEdgeLabel(() => ({}));
  nodes.forEach((node) => graph.setNode(node.id, { width: WIDTH, height: heightOf(node) }));
  edges.forEach(({ id, from, to }) => graph.setEdge(from, to, {}, id));
  layout(graph);
  return nodes.map((node) => {
    const { x, y } = graph.node(node.id) as { x: number; y: number };
    return {
      id: node.id,
      type: 'box',
      position: { x: x - WIDTH / 2, y: y - heightOf(node) / 2 },
      data: { node },
    };
  });
}

function Box({ data: { node }, selected }: NodeProps<Drawn>) {
  return (
    <div className={classes.node} data-kind={node.kind} data-selected={selected}>
      <Handle type="target" position={Position.Left} className={classes.handle ?? ''} />
      <div className={classes.label}>{node.label}</div>
      {node.details.map((line) => (
        <div key={line} className={classes.detail}>
          {line}
        </div>
      ))}
      <Handle type="source" position={Position.Right} className={classes.handle ?? ''} />
    </div>
  );
}

const NODE_TYPES = { box: Box };

export default function Graph({ label, nodes, edges, selected = null, onSelect }: Props) {
  const scheme = useComputedColorScheme('light');
  const places = useMemo(() => placed(nodes, edges), [nodes, edges]);
  const lines: Edge[] = edges.map(({ id, from, to, label: text, isWeak }) => ({
    id,
    source: from,
    target: to,
    markerEnd: { type: MarkerType.ArrowClosed },
    className: isWeak ? (classes.weak ?? '') : '',
    ...(text === undefined ? {} : { label: text }),
  }));
  return (
    <div className={classes.frame} role="img" aria-label={label}>
      <ReactFlow
        nodes={places.map((place) => ({ ...place, selected: place.id === selected }))}
        edges={lines}
        nodeTypes={NODE_TYPES}
        colorMode={scheme}
        fitView
        fitViewOptions={{ maxZoom: 1.1, padding: 0.12 }}
        minZoom={0.2}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_event, { id }) => onSelect?.(id)}
      >
        <Background gap={20} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}
