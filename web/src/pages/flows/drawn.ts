/** The boxes and lines of a flow, as the canvas draws them. */
import { type Edge, type Node, type NodeHandle, Position } from '@xyflow/react';
import type { NodePrice } from '@/api/playbook-tests';
import type { NodeStanding } from '@/api/runs';
import { edgesOf, type FlowGraph, type FlowNode } from '@/flows/graph';
import type { NodeProblem } from './NodeSettings';
import { type Counted, lineText } from '@/components/line-counts';
import { comparedText, expectedText, standingText } from './standing';
import { groupKey, noteKey, triggerKey } from './canvas-keys';
import {
  ACROSS,
  DOWN,
  LANE_START,
  type Layout,
  place,
  type Placed,
  type Point,
  SIZE,
  type Size,
} from '@/flows/layout';

export interface BoxData extends Record<string, unknown> {
  node: FlowNode | null;
  trigger: { type: string; name: string } | null;
  /** Graphs inside it, with the places of their frames. */
  lanes: {
    path: string;
    name: string;
    at: Point;
    width: number;
    height: number;
    isEmpty: boolean;
  }[];
  isClosed: boolean;
  problems: number;
  /** How it stands in the run that is shown. */
  state: string | null;
  /** How long it took and what it cost there, in few characters. */
  facts: string;
}

export type Box = Node<BoxData, 'box'>;
export type NoteBox = Node<{ text: string }, 'note'>;
export type GroupFrame = Node<{ title: string; keys: string[] }, 'frame'>;
export type Drawn = Box | NoteBox | GroupFrame;

export interface Marks extends Counted {
  problems: ReadonlyMap<string, NodeProblem[]>;
  stateOf: (key: string) => string | null;
  /** The same from the run that it is compared with. */
  others?: ReadonlyMap<string, NodeStanding> | undefined;
  /** What each node will cost, while no run is shown. */
  prices?: ReadonlyMap<string, NodePrice> | undefined;
}

export interface Trigger {
  type: string;
  name: string;
}

export function triggersOf(document: unknown): Trigger[] {
  const { triggers } = (document ?? {}) as { triggers?: unknown };
  if (!Array.isArray(triggers)) return [];
  return triggers.map((each: unknown) => {
    const { type, name } = (each ?? {}) as Record<string, unknown>;
    return { type: String(type), name: typeof name === 'string' ? name : String(type) };
  });
}

export function drawnBoxes(
  graph: FlowGraph,
  layout: Layout,
  triggers: readonly Trigger[],
  marks: Marks,
): { boxes: Drawn[]; lines: Edge[]; items: Placed[] } {
  const { items } = place(graph, layout);
  const boxes = items.flatMap((item) => boxesOf(item, undefined, { x: 0, y: 0 }, layout, marks));
  const first = graph.nodes.filter(({ needs }) => needs.length === 0);
  const begun = items.filter(({ node }) => first.includes(node));
  const left = leftmost(items) - SIZE.width - ACROSS;
  const top = begun.length === 0 ? 0 : Math.min(...begun.map(({ at }) => at.y));
  const starts = triggers.map((trigger, index): Box => ({
    id: triggerKey(index),
    type: 'box',
    position: layout.places[triggerKey(index)] ?? {
      x: left,
      y: top + index * (SIZE.height + DOWN),
    },
    data: { node: null, trigger, lanes: [], isClosed: false, problems: 0, state: null, facts: '' },
    ...sized(null, SIZE),
  }));
  const begin = triggers.flatMap((_, index) =>
    first.map(({ key }): Edge => ({
      id: `${triggerKey(index)}>${key}`,
      source: triggerKey(index),
      target: key,
      sourceHandle: 'out:',
      deletable: false,
      selectable: false,
      focusable: false,
      style: { strokeDasharray: '4 4' },
    })),
  );
  return {
    boxes: [...framesOf(layout, items), ...starts, ...boxes, ...notesOf(layout)],
    lines: [...begin, ...linesOf(graph, marks)],
    items,
  };
}

const leftmost = (items: readonly Placed[]) =>
  items.length === 0 ? 0 : Math.min(...items.map(({ at }) => at.x));

/** The ways out of a node, one without a name where there is only one. */
export function waysOut(node: FlowNode | null): readonly string[] {
  return node === null || node.ports.length === 0 ? [''] : node.ports;
}

export function mayFail(node: FlowNode | null): node is FlowNode {
  return node !== null && !node.isImplied && node.type !== 'output';
}

/** Distances within a box, as its style sheet has them. */
export const WAY = { first: 32, next: 22 };
const HANDLE = { width: 6, height: 6 };
const BORDER = { left: 3, other: 1 };

/**
 * The size of a box and where lines meet it. Known beforehand, so that nothing is measured when a flow is opened, and
 * lines lead to boxes that are out of view and not in the page.
 */
function sized(node: FlowNode | null, { width, height }: Size) {
  const handles: NodeHandle[] = waysOut(node).map((way, index) => ({
    ...{ id: `out:${way}`, type: 'source', position: Position.Right, ...HANDLE },
    x: width - BORDER.other - HANDLE.width / 2,
    y: BORDER.other + WAY.first + index * WAY.next - HANDLE.height / 2,
  }));
  if (node !== null)
    handles.push({
      ...{ id: 'in', type: 'target', position: Position.Left, ...HANDLE },
      x: BORDER.left - HANDLE.width / 2,
      y: (height - HANDLE.height) / 2,
    });
  if (mayFail(node))
    handles.push({
      ...{ id: 'out:error', type: 'source', position: Position.Bottom, ...HANDLE },
      x: (width + BORDER.left - BORDER.other - HANDLE.width) / 2,
      y: height - BORDER.other - HANDLE.height / 2,
    });
  return { width, height, measured: { width, height }, handles };
}

const FRAME = { side: 20, top: 40 };

/** Behind their nodes, as large as these need. */
function framesOf({ groups }: Layout, items: readonly Placed[]): GroupFrame[] {
  return groups.flatMap(({ id, title, keys }) => {
    const held = items.filter(({ node }) => keys.includes(node.key));
    if (held.length === 0) return [];
    const left = Math.min(...held.map(({ at }) => at.x)) - FRAME.side;
    const top = Math.min(...held.map(({ at }) => at.y)) - FRAME.top;
    const right = Math.max(...held.map(({ at, size }) => at.x + size.width)) + FRAME.side;
    const bottom = Math.max(...held.map(({ at, size }) => at.y + size.height)) + FRAME.side;
    return [
      {
        id: groupKey(id),
        type: 'frame',
        position: { x: left, y: top },
        width: right - left,
        height: bottom - top,
        zIndex: -1,
        connectable: false,
        data: { title, keys: held.map(({ node }) => node.key) },
      },
    ];
  });
}

function notesOf({ notes }: Layout): NoteBox[] {
  return notes.map(({ id, text, at }) => ({
    id: noteKey(id),
    type: 'note',
    position: at,
    width: 200,
    connectable: false,
    data: { text },
  }));
}

function boxesOf(
  item: Placed,
  parent: string | undefined,
  start: Point,
  layout: Layout,
  marks: Marks,
): Box[] {
  const { node, at, size, lanes } = item;
  const box: Box = {
    id: node.key,
    type: 'box',
    position: { x: at.x + start.x, y: at.y + start.y },
    ...(parent === undefined ? {} : { parentId: parent }),
    ...sized(node, size),
    deletable: !node.isImplied,
    data: {
      node,
      trigger: null,
      lanes: lanes.map((lane) => ({
        path: JSON.stringify(lane.graph.path),
        name: lane.graph.name,
        at: lane.at,
        width: lane.size.width,
        height: lane.size.height,
        isEmpty: lane.items.length === 0,
      })),
      isClosed: node.graphs.length > 0 && layout.closed.includes(node.key),
      problems: marks.problems.get(node.key)?.length ?? 0,
      state: marks.stateOf(node.key),
      facts: factsOf(node.key, marks),
    },
  };
  const inner = lanes.flatMap((lane) => {
    const begin = { x: lane.at.x + LANE_START.x, y: lane.at.y + LANE_START.y };
    return lane.items.flatMap((each) => boxesOf(each, node.key, begin, layout, marks));
  });
  return [box, ...inner];
}

/** Lines of a graph and of the graphs inside it; those in graphs that are not shown are left out by the canvas. */
function linesOf(graph: FlowGraph, marks: Marks): Edge[] {
  const lines = edgesOf(graph).map(({ id, before, after, port }): Edge => ({
    id,
    source: before,
    target: after,
    sourceHandle: `out:${port}`,
    targetHandle: 'in',
    data: { port },
    ...labelled(lineText(port, marks, before, after)),
    ...(port === 'error' ? { style: { stroke: 'var(--mantine-color-error)' } } : {}),
  }));
  return [
    ...lines,
    ...graph.nodes.flatMap(({ graphs }) => graphs.flatMap((inner) => linesOf(inner, marks))),
  ];
}

const labelled = (label: string) => (label === '' ? {} : { label });

/** How long a node took and what it cost, or what it will. */
export function factsOf(key: string, { standings, others, prices }: Marks): string {
  const standing = standings.get(key);
  if (standing) return others ? comparedText(standing, others.get(key)) : standingText(standing);
  const price = prices?.get(key);
  return price ? expectedText(price) : '';
}

/** Where a dragged box is within the frame around it, as the layout keeps it. */
export function placeWithin(items: readonly Placed[], key: string, at: Point): Point {
  const around = holderOf(items, key);
  if (!around) return rounded(at);
  const start = { x: around.at.x + LANE_START.x, y: around.at.y + LANE_START.y };
  return rounded({ x: Math.max(0, at.x - start.x), y: Math.max(0, at.y - start.y) });
}

function holderOf(items: readonly Placed[], key: string): Placed['lanes'][number] | null {
  for (const { lanes } of items) {
    for (const lane of lanes) {
      if (lane.items.some(({ node }) => node.key === key)) return lane;
      const inner = holderOf(lane.items, key);
      if (inner) return inner;
    }
  }
  return null;
}

/** The boxes of the graph that a node belongs to. */
export function peersOf(items: readonly Placed[], key: string): readonly Placed[] {
  return holderOf(items, key)?.items ?? items;
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });
