/** The studio of one flow: palette, drawing or outline, settings or YAML; all of them change the same text. */
import { Button, SegmentedControl, Select, Tabs, Text } from '@mantine/core';
import { ReactFlowProvider } from '@xyflow/react';
import { StickyNote } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { parse, stringify } from 'yaml';
import type { FlowPalette } from '@/api/flows';
import type { RunDetail, Tool } from '@/api/run-types';
import type { NodeStanding } from '@/api/runs';
import { useSearchParam } from '@/components/use-search-param';
import { insertItem, type Path, valueAt } from '@/flows/document';
import {
  addNode,
  type Connection,
  connect,
  copyNodes,
  disconnect,
  type Fields,
  freeId,
  pasteNodes,
  removeNodes,
} from '@/flows/edits';
import { type FlowNode, graphsWithin, nodeAtPointer, nodesWithin, nodeTitle } from '@/flows/graph';
import { placeAfter, type Point } from '@/flows/layout';
import { addNote, moveNotes, removeNotes } from '@/flows/layout-edits';
import { nodeState } from '../run/flow-graph';
import { PlaybookField, type usePlaybookCheck } from '../playbooks/PlaybookField';
import Canvas from './Canvas';
import { type Actions, CanvasActions } from './canvas-actions';
import { nodesIn as nodeKeys, noteKey, notesIn, triggerKey, triggersIn } from './canvas-keys';
import { DrawingSettings, isDrawingOnly } from './DrawingSettings';
import { FlowSettings } from './FlowSettings';
import { drawnBoxes, type Marks, peersOf, placeWithin, triggersOf } from './drawn';
import { type Entry, kindName, paletteEntries } from './entries';
import { LastRun } from './LastRun';
import { COMES_AFTER, type NodeProblem, NodeSettings } from './NodeSettings';
import { Outline } from './Outline';
import { PalettePanel } from './PalettePanel';
import { removeTrigger, TriggerSettings } from './TriggerSettings';
import { isCallOf } from './standing';
import type { Studio } from './use-studio';
import classes from './flows.module.css';

interface Props {
  studio: Studio;
  palette: FlowPalette;
  tools: readonly Tool[];
  check: ReturnType<typeof usePlaybookCheck>;
  run: RunDetail | undefined;
  /** What is known of each node, of the run that is shown or of the last one. */
  standings: ReadonlyMap<string, NodeStanding>;
  mayEdit: boolean;
}

const NONE: ReadonlyMap<string, NodeStanding> = new Map();

export function StudioView({ studio, palette, tools, check, run, standings, mayEdit }: Props) {
  const { text, layout, document, graph, language } = studio;
  const [step] = useSearchParam('step');
  const asked =
    step === null ? undefined : nodesWithin(graph).find(({ key }) => isCallOf(step, key));
  const [selected, setSelected] = useState<readonly string[]>(asked ? [asked.key] : []);
  const [into, setInto] = useState<string | null>(null);
  const [focus, setFocus] = useState<string | null>(asked?.key ?? null);
  const [view, setView] = useState('canvas');
  const [side, setSide] = useState<string | null>('settings');
  const field = useRef<HTMLInputElement>(null);
  const entries = useMemo(() => paletteEntries(palette, tools), [palette, tools]);
  const problems = check.check?.problems;
  const marks = useMemo((): Marks => {
    const found = new Map<string, NodeProblem[]>();
    for (const problem of problems ?? []) {
      const key = nodeAtPointer(graph, problem.pointer)?.key;
      if (key !== undefined) found.set(key, [...(found.get(key) ?? []), problem]);
    }
    const stateOf = (key: string) => (run ? standing(run, key, standings) : null);
    return { problems: found, stateOf, standings: run ? standings : NONE };
  }, [problems, graph, run, standings]);
  const { boxes, lines, items } = useMemo(
    () => drawnBoxes(graph, layout, triggersOf(document), marks),
    [graph, layout, document, marks],
  );
  const select = (keys: readonly string[]) => {
    setSelected(keys);
    setInto(null);
    if (keys.length > 0) setSide('settings');
  };
  const node = nodesWithin(graph).find(({ key }) => key === selected[0]);

  const add = (entry: Entry, at: Point | null = null, lane: string | null = into) => {
    if (entry.kind === 'trigger') return addTrigger(entry);
    const chosen = lane === null ? node : undefined;
    const target =
      lane === null
        ? (graphsWithin(graph).find(({ nodes }) => nodes.some(({ key }) => key === chosen?.key)) ??
          graph)
        : (graphsWithin(graph).find(({ path }) => JSON.stringify(path) === lane) ?? graph);
    const last = target.nodes.findLast(({ isImplied, type }) => !isImplied && type !== 'output');
    const before =
      chosen && !chosen.isImplied ? chosen : target.isRow || lane !== null ? last : undefined;
    const needs = before && at === null ? [[before.id, ...before.ports.slice(0, 1)].join('.')] : [];
    const id = freeId(text, language, entry.title);
    const taken =
      before && at === null && entry.takes
        ? { [entry.takes]: `\${nodes.${before.id}.output}` }
        : {};
    const made = addNode(text, language, {
      ...{ graph: target.path, id, type: entry.type, needs },
      fields: { title: entry.title, ...entry.fields, ...taken },
    });
    const holder = nodesWithin(graph).find(({ graphs }) => graphs.includes(target));
    const key = `${holder ? `${holder.key}/` : ''}${id}`;
    const free = at ?? (before ? placeAfter(peersOf(items, before.key), before.key) : null);
    const isPlaced = free !== null && holder === undefined;
    const places = isPlaced ? { ...layout.places, [key]: free } : layout.places;
    studio.change({ text: made, layout: { ...layout, places } });
    setSelected([key]);
    setFocus(key);
    setInto(null);
    setSide('settings');
  };
  const addTrigger = ({ type, fields }: Entry) => {
    const all = valueAt(document, ['triggers']);
    const count = Array.isArray(all) ? all.length : 0;
    const names = triggersOf(document).map(({ name }) => name);
    const name = names.includes(type) ? `${type}-${count + 1}` : type;
    studio.change({ text: insertItem(text, ['triggers'], count, { type, name, ...fields }) });
    select([triggerKey(count)]);
  };
  const remove = (keys: readonly string[], edges: readonly Connection[]) => {
    let made = edges.reduce((now, edge) => disconnect(now, language, edge), text);
    made = removeNodes(made, language, nodeKeys(keys));
    for (const index of triggersIn(keys).sort((a, b) => b - a))
      made = removeTrigger(made, document, index);
    studio.change({ text: made, layout: removeNotes(layout, notesIn(keys)) });
    select([]);
  };
  const paste = (nodes: readonly Fields[]) => {
    const around =
      graphsWithin(graph).find(({ nodes: all }) => all.some(({ key }) => key === node?.key)) ??
      graph;
    const made = pasteNodes(text, language, around.path, nodes);
    studio.change({ text: made.text });
    const start = node?.key.includes('/') ? node.key.slice(0, node.key.lastIndexOf('/') + 1) : '';
    select(made.ids.map((id) => `${start}${id}`));
  };
  const actions = useMemo(
    (): Actions => ({
      toggle: (key) => {
        const isClosed = layout.closed.includes(key);
        const closed = isClosed
          ? layout.closed.filter((each) => each !== key)
          : [...layout.closed, key];
        studio.change({ layout: { ...layout, closed } });
      },
      addInto: mayEdit
        ? (path) => {
            setInto(path);
            field.current?.focus();
          }
        : null,
      nameOf: (node) => kindName(palette, tools, node),
    }),
    // The studio's own functions change nothing about what they do.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [layout, mayEdit, tools, palette],
  );
  const writeNote = () => {
    const below = Math.max(0, ...items.map(({ at, size }) => at.y + size.height)) + 60;
    const made = addNote(layout, { x: 0, y: below });
    studio.change({ layout: made.layout });
    select([noteKey(made.id)]);
    setFocus(noteKey(made.id));
  };
  const shortcuts: Partial<Record<string, () => void>> = {
    a: () => field.current?.focus(),
    n: writeNote,
    c: () => globalThis.document.getElementById(COMES_AFTER)?.focus(),
    '/': () => globalThis.document.getElementById(FIND_STEP)?.focus(),
  };
  const keys = (event: KeyboardEvent) => {
    const { target } = event;
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
    if (!(event.ctrlKey || event.metaKey)) {
      const wanted = event.altKey || !mayEdit ? undefined : shortcuts[event.key.toLowerCase()];
      if (!wanted) return;
      event.preventDefault();
      wanted();
      return;
    }
    const key = event.key.toLowerCase();
    const isRedo = key === 'y' || (key === 'z' && event.shiftKey);
    if (key !== 'z' && key !== 'y' && key !== 'a') return;
    event.preventDefault();
    event.stopPropagation();
    if (key === 'a') setSelected(boxes.map(({ id }) => id));
    else if (mayEdit) (isRedo ? studio.redo : studio.undo)();
  };
  const isTyping = (event: ClipboardEvent) =>
    event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  const copied = (event: ClipboardEvent) => {
    const nodes = copyNodes(text, language, selected);
    if (isTyping(event) || nodes.length === 0) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', stringify(nodes));
  };
  const pasted = (event: ClipboardEvent) => {
    if (isTyping(event) || !mayEdit) return;
    const nodes = nodesIn(event.clipboardData.getData('text/plain'));
    if (nodes.length === 0) return;
    event.preventDefault();
    paste(nodes);
  };
  const waiting = run === undefined ? [] : waitingNodes(nodesWithin(graph), standings);
  const trigger = triggersIn(selected.slice(0, 1))[0] ?? null;
  const isDrawing = isDrawingOnly(selected);
  const holder = nodesWithin(graph).find(({ graphs }) =>
    graphs.some(({ path }) => JSON.stringify(path) === into),
  );
  const place = holder
    ? `Adds a step inside ${nodeTitle(holder)}.`
    : node && !node.isImplied
      ? `Adds a step after ${nodeTitle(node)}.`
      : 'Click to add, or drag it to its place.';
  return (
    // Shortcuts and the clipboard belong to everything in the studio.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className={classes.studio} onKeyDown={keys} onCopy={copied} onPaste={pasted}>
      {mayEdit ? (
        <PalettePanel entries={entries} place={place} field={field} onAdd={(entry) => add(entry)} />
      ) : (
        <div />
      )}
      <div className={classes.middle}>
        <Finder
          studio={studio}
          view={view}
          onView={setView}
          onNote={mayEdit ? writeNote : undefined}
          onFound={(key) => {
            select([key]);
            setFocus(key);
          }}
        />
        {view === 'canvas' ? (
          <CanvasActions value={actions}>
            <ReactFlowProvider>
              <Canvas
                boxes={boxes}
                lines={lines}
                selected={selected}
                focus={focus}
                mayEdit={mayEdit}
                onSelect={select}
                onMove={(moved) => {
                  const places = { ...layout.places };
                  const notes: Record<string, Point> = {};
                  for (const [key, at] of Object.entries(moved)) {
                    const [note] = notesIn([key]);
                    if (note !== undefined) notes[note] = at;
                    else if (!key.startsWith('group:')) places[key] = placeWithin(items, key, at);
                  }
                  studio.change({ layout: moveNotes({ ...layout, places }, notes) });
                }}
                onConnect={(edge) => studio.change({ text: connect(text, language, edge) })}
                onRemove={remove}
                onDropEntry={(id, at, lane) => {
                  const entry = entries.find((each) => each.id === id);
                  if (entry) add(entry, at, lane);
                }}
              />
            </ReactFlowProvider>
          </CanvasActions>
        ) : (
          <div className={classes.outlineFrame}>
            <Outline
              {...{ graph, title: '', selected, marks, actions }}
              onSelect={(key) => select([key])}
            />
          </div>
        )}
      </div>
      <div className={classes.side}>
        <Tabs value={side} onChange={setSide} keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="settings">Settings</Tabs.Tab>
            <Tabs.Tab value="yaml">YAML</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="settings">
            {isDrawing && (
              <DrawingSettings
                studio={studio}
                selected={selected}
                items={items}
                readOnly={!mayEdit}
                onSelect={select}
                onRemove={(keys) => remove(keys, [])}
              />
            )}
            {node && !isDrawing && (
              <NodeSettings
                key={node.key}
                node={node}
                type={palette.nodes.find(({ type }) => type === node.type)}
                tools={tools}
                studio={studio}
                problems={marks.problems.get(node.key) ?? []}
                standings={standings}
                runId={run?.id ?? null}
                readOnly={!mayEdit}
                onSelect={select}
                onCopy={() => paste(copyNodes(text, language, [node.key]))}
              />
            )}
            {trigger !== null && !isDrawing && (
              <TriggerSettings
                key={trigger}
                index={trigger}
                types={palette.triggers}
                studio={studio}
                readOnly={!mayEdit}
                onRemoved={() => select([])}
              />
            )}
            {!node && trigger === null && !isDrawing && (
              <>
                {waiting.map((each) => (
                  <section key={each.key} aria-label={nodeTitle(each)}>
                    <Text fw={600}>{nodeTitle(each)}</Text>
                    <LastRun
                      runId={run?.id ?? null}
                      node={each}
                      standing={standings.get(each.key)}
                    />
                  </section>
                ))}
                <FlowSettings studio={studio} readOnly={!mayEdit} />
              </>
            )}
          </Tabs.Panel>
          <Tabs.Panel value="yaml">
            <PlaybookField
              value={text}
              onChange={(next) => studio.change({ text: next }, 'yaml')}
              check={check}
              readOnly={!mayEdit}
            />
          </Tabs.Panel>
        </Tabs>
      </div>
    </div>
  );
}

/** The steps at which the run waits; of a step around others, those inside it. */
function waitingNodes(
  nodes: readonly FlowNode[],
  standings: ReadonlyMap<string, NodeStanding>,
): FlowNode[] {
  const waiting = nodes.filter(({ key }) => standings.get(key)?.state === 'waiting');
  return waiting.filter(({ key }) => !waiting.some((other) => other.key.startsWith(`${key}/`)));
}

/** A run tells of its outermost nodes; of those inside others its journal does. */
function standing(
  run: RunDetail,
  key: string,
  standings: ReadonlyMap<string, NodeStanding>,
): string | null {
  const state = nodeState(run, key);
  if (!key.includes('/') || state === 'held') return state;
  return standings.get(key)?.state ?? null;
}

/** Nodes in a text from the clipboard: a list of them, a graph, or a whole flow. */
function nodesIn(text: string): Fields[] {
  try {
    const found = parse(text) as unknown;
    const list = Array.isArray(found)
      ? (found as unknown[])
      : (['nodes', 'steps'] as Path[0][]).map((name) => valueAt(found, [name])).find(Array.isArray);
    const nodes = (list ?? []) as unknown[];
    return nodes.filter((node): node is Fields => typeof valueAt(node, ['type']) === 'string');
  } catch {
    return [];
  }
}

interface FinderProps {
  studio: Studio;
  view: string;
  onView: (view: string) => void;
  onFound: (key: string) => void;
  onNote: (() => void) | undefined;
}

const FIND_STEP = 'find-a-step';

function Finder({ studio, view, onView, onFound, onNote }: FinderProps) {
  const nodes = nodesWithin(studio.graph);
  return (
    <div style={{ display: 'flex', gap: '0.5rem', marginBottom: '0.5rem', flexWrap: 'wrap' }}>
      <SegmentedControl
        size="xs"
        aria-label="How the flow is shown"
        value={view}
        onChange={onView}
        data={[
          { value: 'canvas', label: 'Canvas' },
          { value: 'outline', label: 'Outline' },
        ]}
      />
      <Select
        size="xs"
        id={FIND_STEP}
        aria-label="Find a step"
        placeholder="Find a step"
        searchable
        data={nodes.map((node) => ({ value: node.key, label: nodeTitle(node) }))}
        value={null}
        onChange={(key) => key !== null && onFound(key)}
      />
      {onNote && (
        <Button
          size="xs"
          variant="default"
          leftSection={<StickyNote size={13} aria-hidden />}
          onClick={onNote}
        >
          Note
        </Button>
      )}
    </div>
  );
}
