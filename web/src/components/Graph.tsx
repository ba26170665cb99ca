/** A graph laid out from left to right; for the eyes only, pages also say the same in a list. */
import { useComputedColorScheme } from '@mantine/core';
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useEffect, useMemo } from 'react';
import {
  arranged,
  type GraphEdge,
  type GraphNode,
  type Point,
  type Size,
  smoothPath,
  viewportFor,
} from './graph-layout';
import classes from './Graph.module.css';

interface Props {
  label: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  selected?: string | null;
  onSelect?: (id: string) => void;
}

type DrawnNode = Node<{ node: GraphNode }, 'box'>;
type DrawnEdge = Edge<{ points: Point[]; middle: Point; text: string }, 'line'>;

function Box({ data: { node }, selected }: NodeProps<DrawnNode>) {
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

function Line({ id, data, markerEnd }: EdgeProps<DrawnEdge>) {
  if (!data) return null;
  const { points, middle, text } = data;
  return (
    <>
      <BaseEdge id={id} path={smoothPath(points)} {...(markerEnd ? { markerEnd } : {})} />
      {text !== '' && (
        <EdgeLabelRenderer>
          <div
            className={classes.edgeLabel}
            style={{ transform: `translate(-50%, -50%) translate(${middle.x}px, ${middle.y}px)` }}
          >
            {text}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** Puts the graph into its frame, and again when either of them changes its size. */
function Framed({ bounds }: { bounds: Point & Size }) {
  const { setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    if (width > 0 && height > 0) void setViewport(viewportFor(bounds, { width, height }));
  }, [bounds, width, height, setViewport]);
  return null;
}

const NODE_TYPES = { box: Box };
const EDGE_TYPES = { line: Line };

export default function Graph({ label, nodes, edges, selected = null, onSelect }: Props) {
  const scheme = useComputedColorScheme('light');
  const layout = useMemo(() => arranged(nodes, edges), [nodes, edges]);
  const boxes = layout.nodes.map(({ node, position, size }): DrawnNode => ({
    id: node.id,
    type: 'box',
    position,
    // Without it, a box that is drawn again stays hidden until its size changes.
    measured: size,
    data: { node },
    selected: node.id === selected,
  }));
  const lines = layout.edges.map(({ edge, points, middle }): DrawnEdge => ({
    id: edge.id,
    type: 'line',
    source: edge.from,
    target: edge.to,
    markerEnd: { type: MarkerType.ArrowClosed },
    className: edge.isWeak ? (classes.weak ?? '') : '',
    data: { points, middle, text: edge.label ?? '' },
  }));
  return (
    <div className={classes.frame} role="group" aria-label={label}>
      <ReactFlow
        nodes={boxes}
        edges={lines}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={scheme}
        minZoom={0.2}
        nodesDraggable={false}
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
        <Framed bounds={layout.bounds} />
      </ReactFlow>
    </div>
  );
}
