/** The drawing of a flow: dragged, connected and selected by mouse or keyboard. */
import { t } from '@lingui/core/macro';
import { useComputedColorScheme } from '@mantine/core';
import {
  applyNodeChanges,
  Background,
  type Connection as Drawn,
  ControlButton,
  Controls,
  type Edge,
  MarkerType,
  MiniMap,
  type NodeChange,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { ArrowLeftToLine } from 'lucide-react';
import { type DragEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Connection } from '@/flows/edits';
import type { Point } from '@/flows/layout';
import type { Drawn as Shape } from './drawn';
import { FlowBox } from './FlowBox';
import { GroupFrame, NoteBox } from './NoteBox';
import { EdgeHints } from './EdgeHints';
import { openingView, opensCutOff } from './opening-view';
import classes from './flows.module.css';

const NODE_TYPES = { box: FlowBox, note: NoteBox, frame: GroupFrame };
const EDGE_OPTIONS = { markerEnd: { type: MarkerType.ArrowClosed } };
const SMALLEST = 0.05;
const FIT = { maxZoom: 1, minZoom: SMALLEST, padding: 0.05 };
const LABELS = { 'controls.fitView.ariaLabel': t`Show the whole flow (F)` };
/** A smaller flow is seen as a whole: an overview would only cover it. */
const FEW = 12;
/** A larger flow has only those boxes in the page that are in view. */
const MANY = 100;
export const DELETE_KEYS = ['Delete', 'Backspace'];
const ADD_KEYS = ['Meta', 'Control'];
const OPTIONS = { hideAttribution: true };
export const ENTRY = 'application/x-steward-node';

interface Props {
  boxes: Shape[];
  lines: Edge[];
  selected: readonly string[];
  /** A node to bring into view, such as one that was just added. */
  focus: string | null;
  mayEdit: boolean;
  /** The flow does not fit when it is opened; what is beside the canvas may make room for it. */
  onCutOff?: (() => void) | undefined;
  onSelect: (keys: string[]) => void;
  onMove: (places: Record<string, Point>) => void;
  onConnect: (edge: Connection) => void;
  onRemove: (keys: string[], edges: Connection[]) => void;
  /** An entry of the palette is dropped at a place, in a graph inside a node or the outermost one. */
  onDropEntry: (entry: string, at: Point, lane: string | null) => void;
}

export default function Canvas(props: Props) {
  const { boxes, lines, selected, mayEdit } = props;
  const scheme = useComputedColorScheme('light');
  const { screenToFlowPosition } = useReactFlow();
  const toStart = useViews(boxes, props.focus === null ? props.onCutOff : undefined);
  useBroughtIntoView(props.focus);
  const [shown, setShown] = useState({ boxes, selected, nodes: withSelection(boxes, selected) });
  if (shown.boxes !== boxes || shown.selected !== selected) {
    setShown({ boxes, selected, nodes: withSelection(boxes, selected) });
  }
  // While a box is dragged this is drawn at every move: handlers that stay the same leave all other boxes alone.
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const change = useCallback((changes: NodeChange<Shape>[]) => {
    setShown((before) => ({ ...before, nodes: applyNodeChanges(changes, before.nodes) }));
    const places: Record<string, Point> = {};
    for (const each of changes) {
      // The end of a drag, or a step with the arrow keys.
      if (each.type === 'position' && each.dragging === false && each.position) {
        places[each.id] = each.position;
      }
    }
    if (Object.keys(places).length > 0) latest.current.onMove(places);
    const chosen = changes.filter((each) => each.type === 'select');
    if (chosen.length > 0) {
      const next = new Set(latest.current.selected);
      for (const { id, selected: isChosen } of chosen) {
        if (isChosen) next.add(id);
        else next.delete(id);
        // A frame stands for the steps in it: they are moved and aligned together.
        const frame =
          isChosen && latest.current.boxes.find((box) => box.id === id && box.type === 'frame');
        if (frame && frame.type === 'frame') frame.data.keys.forEach((key) => next.add(key));
      }
      latest.current.onSelect([...next]);
    }
  }, []);
  const connect = useCallback((drawn: Drawn) => latest.current.onConnect(connectionOf(drawn)), []);
  const remove = useCallback(({ nodes, edges }: { nodes: Shape[]; edges: Edge[] }) => {
    const keys = nodes.map(({ id }) => id);
    const loose = edges.filter((edge) => edge.selected === true).map(connectionOf);
    if (keys.length + loose.length > 0) latest.current.onRemove(keys, loose);
    // The document decides what is drawn next.
    return Promise.resolve(false);
  }, []);
  const drop = (event: DragEvent) => {
    const entry = event.dataTransfer.getData(ENTRY);
    if (entry === '') return;
    event.preventDefault();
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const lane = under?.closest('[data-lane]')?.getAttribute('data-lane') ?? null;
    props.onDropEntry(entry, screenToFlowPosition({ x: event.clientX, y: event.clientY }), lane);
  };
  return (
    <div className={classes.canvas} role="group" aria-label={t`Canvas`}>
      <ReactFlow
        nodes={shown.nodes}
        edges={lines}
        nodeTypes={NODE_TYPES}
        defaultEdgeOptions={EDGE_OPTIONS}
        colorMode={scheme}
        minZoom={SMALLEST}
        ariaLabelConfig={LABELS}
        nodesDraggable={mayEdit}
        nodesConnectable={mayEdit}
        onlyRenderVisibleElements={boxes.length > MANY}
        deleteKeyCode={mayEdit ? DELETE_KEYS : null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={ADD_KEYS}
        elevateNodesOnSelect={false}
        proOptions={OPTIONS}
        onNodesChange={change}
        onConnect={connect}
        onBeforeDelete={remove}
        onDragOver={(event) => {
          if (mayEdit && event.dataTransfer.types.includes(ENTRY)) event.preventDefault();
        }}
        onDrop={drop}
      >
        <Background gap={20} />
        <Controls showInteractive={false} fitViewOptions={FIT}>
          <ControlButton
            title={t`Show the start (0)`}
            aria-label={t`Show the start (0)`}
            onClick={toStart}
          >
            <ArrowLeftToLine aria-hidden style={{ fill: 'none' }} />
          </ControlButton>
        </Controls>
        <EdgeHints boxes={boxes} />
        {mayEdit && boxes.length === 0 && (
          <p className={classes.hint}>
            {t`This flow has no steps yet. Choose what starts it and what it does from the list.`}
          </p>
        )}
        {boxes.length > FEW && (
          <MiniMap
            pannable
            zoomable
            ariaLabel={t`Overview`}
            className={classes.overview ?? ''}
            nodeColor={overviewColour}
            nodeBorderRadius={8}
          />
        )}
      </ReactFlow>
    </div>
  );
}

/** Boxes that can be told from the ground; a frame would cover those in it. */
function overviewColour({ type }: Shape): string {
  if (type === 'frame') return 'transparent';
  return type === 'note' ? 'var(--mantine-color-yellow-5)' : 'var(--mantine-color-dimmed)';
}

/** Opens at the start of the flow, and shows its start or the whole of it by a key; gives the way to the start. */
function useViews(boxes: readonly Shape[], onCutOff: (() => void) | undefined): () => void {
  const { fitView, setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isOpened = useRef(false);
  const makeRoom = useRef(onCutOff);
  const latest = useRef({ boxes, width, height });
  useLayoutEffect(() => {
    latest.current = { boxes, width, height };
    // The first boxes of an empty flow are where somebody put them.
    if (isOpened.current || width === 0) return;
    void setViewport(openingView(boxes, width, height));
    const ask = opensCutOff(boxes, width, height) ? makeRoom.current : undefined;
    // With more room, it is opened again.
    makeRoom.current = undefined;
    isOpened.current = ask === undefined;
    ask?.();
  }, [boxes, width, height, setViewport]);
  const toStart = useCallback(() => {
    const now = latest.current;
    void setViewport(openingView(now.boxes, now.width, now.height));
  }, [setViewport]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { target, key } = event;
      const isTyping = target instanceof Element && target.closest(FIELDS) !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (key === '0') toStart();
      else if (key.toLowerCase() === 'f') void fitView(FIT);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [fitView, toStart]);
  return toStart;
}

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"]';

function useBroughtIntoView(key: string | null): void {
  const { getInternalNode, getViewport, setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    const node = key === null ? undefined : getInternalNode(key);
    if (!node) return;
    const { x, y } = node.internals.positionAbsolute;
    const { width: wide = 0, height: high = 0 } = node;
    const view = getViewport();
    const zoom = Math.max(view.zoom, 0.5);
    void setViewport({
      x: view.x + shortestWay(x * zoom + view.x, wide * zoom, width),
      y: view.y + shortestWay(y * zoom + view.y, high * zoom, height),
      zoom,
    });
    // Looking elsewhere afterwards is the person's choice.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key]);
}

const EDGE = 20;

/** How far a stretch has to move so that it is in view, its start at any rate. */
export function shortestWay(start: number, length: number, room: number): number {
  if (start < EDGE) return EDGE - start;
  const over = start + length - (room - EDGE);
  return over > 0 ? -Math.min(over, start - EDGE) : 0;
}

function withSelection(boxes: Shape[], selected: readonly string[]): Shape[] {
  const chosen = new Set(selected);
  return boxes.map((box) => (chosen.has(box.id) ? { ...box, selected: true } : box));
}

function connectionOf({ source, target, sourceHandle }: Drawn | Edge): Connection {
  return { before: source, after: target, port: (sourceHandle ?? 'out:').slice('out:'.length) };
}
