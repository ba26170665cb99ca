/** Where nodes are drawn: places that people chose, and places in the order of the edges for all others. */
import { edgesOf, type FlowGraph, type FlowNode } from './graph';

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Kept beside the document; never a part of what it means. */
export interface Layout {
  /** By key of the node, within the graph that it belongs to. */
  places: Record<string, Point>;
  /** Keys of nodes whose graphs are not shown. */
  closed: string[];
  notes: Note[];
  groups: NodeGroup[];
}

/** Words on the canvas. */
export interface Note {
  id: string;
  text: string;
  at: Point;
}

/** A frame with a title around nodes of the flow itself. */
export interface NodeGroup {
  id: string;
  title: string;
  keys: string[];
}

export interface Placed {
  node: FlowNode;
  at: Point;
  size: Size;
  /** Graphs inside the node that are shown, each with its place in the node. */
  lanes: { graph: FlowGraph; at: Point; size: Size; items: Placed[] }[];
}

/** Of a step without others inside it. */
export const SIZE: Size = { width: 200, height: 64 };
const { width: WIDTH, height: HEAD } = SIZE;
const LINE = 22;
/** Between a step and the next. */
export const ACROSS = 48;
export const DOWN = 44;
const MARGIN = 20;
const EMPTY: Size = { width: WIDTH + 2 * MARGIN, height: 90 };

const isPoint = (value: unknown): value is Point =>
  typeof value === 'object' &&
  value !== null &&
  Number.isFinite((value as Point).x) &&
  Number.isFinite((value as Point).y);

/** A layout from the server, which keeps what it is given. */
export function readLayout(kept: Record<string, unknown>): Layout {
  const places = Object.entries((kept.places ?? {}) as Record<string, unknown>);
  const { closed } = kept;
  return {
    places: Object.fromEntries(
      places.filter((entry): entry is [string, Point] => isPoint(entry[1])),
    ),
    closed: textsIn(closed),
    notes: listIn(kept.notes).flatMap(({ id, text, at }) =>
      typeof id === 'string' && typeof text === 'string' && isPoint(at) ? [{ id, text, at }] : [],
    ),
    groups: listIn(kept.groups).flatMap(({ id, title, keys }) =>
      typeof id === 'string' && typeof title === 'string'
        ? [{ id, title, keys: textsIn(keys) }]
        : [],
    ),
  };
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const listIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

export function place(graph: FlowGraph, layout: Layout): { items: Placed[]; size: Size } {
  const sized = graph.nodes.map((node) => measured(node, layout));
  const free = inRanks(graph, sized);
  const items = sized.map((item) => ({
    ...item,
    at: layout.places[item.node.key] ?? free.get(item.node.key) ?? { x: 0, y: 0 },
  }));
  const right = Math.max(0, ...items.map(({ at, size }) => at.x + size.width));
  const bottom = Math.max(0, ...items.map(({ at, size }) => at.y + size.height));
  return { items, size: { width: right, height: bottom } };
}

function measured(node: FlowNode, layout: Layout): Placed {
  const at = { x: 0, y: 0 };
  const height = HEAD + Math.max(0, node.ports.length - 1) * LINE;
  if (node.graphs.length === 0 || layout.closed.includes(node.key)) {
    return { node, at, size: { width: WIDTH, height }, lanes: [] };
  }
  let top = height;
  const lanes = node.graphs.map((graph) => {
    const inner = place(graph, layout);
    const size =
      inner.items.length === 0
        ? EMPTY
        : {
            width: Math.max(EMPTY.width, inner.size.width + 2 * MARGIN),
            height: inner.size.height + 2 * MARGIN + LINE,
          };
    const lane = { graph, at: { x: MARGIN / 2, y: top }, size, items: inner.items };
    top += size.height + MARGIN / 2;
    return lane;
  });
  const width = Math.max(...lanes.map(({ size }) => size.width)) + MARGIN;
  return { node, at, size: { width, height: top }, lanes };
}

/** Where a node is within its lane: below the lane's name. */
export const LANE_START: Point = { x: MARGIN, y: MARGIN + LINE };

/** Left to right by how many nodes come before, top to bottom in the order of the document. */
function inRanks(graph: FlowGraph, sized: readonly Placed[]): Map<string, Point> {
  const before = new Map<string, string[]>(graph.nodes.map(({ key }) => [key, []]));
  for (const edge of edgesOf(graph)) before.get(edge.after)?.push(edge.before);
  const ranks = new Map<string, number>();
  const rankOf = (key: string, way: readonly string[]): number => {
    const known = ranks.get(key);
    if (known !== undefined) return known;
    // A cycle is a mistake that the server names; it is drawn all the same.
    const others = (before.get(key) ?? []).filter((other) => !way.includes(other) && other !== key);
    const rank = Math.max(-1, ...others.map((other) => rankOf(other, [...way, key]))) + 1;
    ranks.set(key, rank);
    return rank;
  };
  const columns: Placed[][] = [];
  for (const item of sized) {
    const rank = rankOf(item.node.key, []);
    (columns[rank] ??= []).push(item);
  }
  const places = new Map<string, Point>();
  let x = 0;
  for (const column of columns) {
    let y = 0;
    for (const { node, size } of column) {
      places.set(node.key, { x, y });
      y += size.height + DOWN;
    }
    x += Math.max(...column.map(({ size }) => size.width)) + ACROSS;
  }
  return places;
}

/** The place for a node that is added after another one: to its right, below what is there already. */
export function placeAfter(items: readonly Placed[], key: string | null): Point | null {
  const before = items.find(({ node }) => node.key === key);
  if (!before) return null;
  const x = before.at.x + before.size.width + ACROSS;
  let { y } = before.at;
  const isTaken = () =>
    items.some(
      ({ at, size }) =>
        at.x < x + WIDTH && at.x + size.width > x && at.y < y + HEAD && at.y + size.height > y,
    );
  while (isTaken()) y += HEAD + DOWN;
  return { x, y };
}
