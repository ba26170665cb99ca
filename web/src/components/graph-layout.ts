/** Places for the boxes and lines of a graph, from left to right in the direction of the lines. */
import { graphlib, layout } from '@dagrejs/dagre';

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

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

const WIDTH = 210;
const LINE = 17;
const CHARACTER = 6.2;

function heightOf({ details }: GraphNode): number {
  return 38 + details.length * LINE;
}

/** Room is kept for the labels of the lines, so that no box hides them. */
function labelSize(label: string | undefined) {
  if (label === undefined) return { width: 0, height: 0 };
  return { width: label.length * CHARACTER + 12, height: LINE, labelpos: 'c' };
}

export function arranged(nodes: GraphNode[], edges: GraphEdge[]) {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 28, edgesep: 18, ranksep: 60 });
  nodes.forEach((node) => graph.setNode(node.id, { width: WIDTH, height: heightOf(node) }));
  edges.forEach(({ id, from, to, label }) => graph.setEdge(from, to, labelSize(label), id));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>;
  return {
    bounds: { x: 0, y: 0, width, height },
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.id) as Point;
      const size = { width: WIDTH, height: heightOf(node) };
      return { node, size, position: { x: x - WIDTH / 2, y: y - size.height / 2 } };
    }),
    edges: edges.map((edge) => {
      const found = graph.edge(edge.from, edge.to, edge.id) as Partial<Point> & { points: Point[] };
      const { points } = found;
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
      return {
        edge,
        points,
        middle: { x: found.x ?? middle.x, y: found.y ?? middle.y },
      };
    }),
  };
}

/** A line through all points that bends gently at each of them. */
export function smoothPath(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const last = rest.at(-1) ?? first;
  const bends = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? last;
    const isLastBend = index === rest.length - 2;
    const end = isLastBend ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q ${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  const tail = bends.length === 0 ? ` L ${last.x} ${last.y}` : ` ${bends.join(' ')}`;
  return `M ${first.x} ${first.y}${tail}`;
}

const MARGIN = 24;
/** Below this, labels cannot be read any more. */
const SMALLEST = 0.65;
const LARGEST = 1.1;

/** Shows the whole graph where that stays readable, otherwise where it begins. */
export function viewportFor(bounds: Point & Size, frame: Size): Point & { zoom: number } {
  const wanted = Math.min(
    (frame.width - 2 * MARGIN) / bounds.width,
    (frame.height - 2 * MARGIN) / bounds.height,
  );
  const zoom = Math.min(LARGEST, Math.max(SMALLEST, wanted));
  const place = (start: number, length: number, room: number) =>
    Math.max(MARGIN, (room - length * zoom) / 2) - start * zoom;
  return {
    x: place(bounds.x, bounds.width, frame.width),
    y: place(bounds.y, bounds.height, frame.height),
    zoom,
  };
}
