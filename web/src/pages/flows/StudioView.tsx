/** The studio of one flow: palette, drawing or outline, settings or YAML; all of them change the same text. */
import { t } from '@lingui/core/macro';
import { Tabs, Text } from '@mantine/core';
import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { stringify } from 'yaml';
import type { FlowPalette } from '@/api/flows';
import type { Price } from '@/api/playbook-tests';
import type { RunDetail, Tool } from '@/api/run-types';
import type { NodeStanding } from '@/api/runs';
import { useSearchParam } from '@/components/use-search-param';
import { insertItem, valueAt } from '@/flows/document';
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
import { graphsWithin, nodeAtPointer, nodesWithin, nodeTitle } from '@/flows/graph';
import { placeAfter, type Point } from '@/flows/layout';
import { addNote, moveNotes, removeNotes } from '@/flows/layout-edits';
import { PlaybookField, type usePlaybookCheck } from '../playbooks/PlaybookField';
import Canvas, { DELETE_KEYS } from './Canvas';
import { type Actions, CanvasActions } from './canvas-actions';
import { nodesIn as nodeKeys, noteKey, notesIn, triggerKey, triggersIn } from './canvas-keys';
import { DrawingSettings, isDrawingOnly } from './DrawingSettings';
import { FlowSettings } from './FlowSettings';
import { drawnBoxes, type Marks, peersOf, placeWithin, triggersOf } from './drawn';
import { type Entry, kindName, paletteEntries } from './entries';
import { FIND_STEP, Finder } from './Finder';
import { LastRun } from './LastRun';
import { COMES_AFTER, type NodeProblem, NodeSettings } from './NodeSettings';
import { OutlineView } from './Outline';
import { pastedNodes } from './pasted';
import { PalettePanel } from './PalettePanel';
import { itemsDone } from '@/components/line-counts';
import { branchOf, stateIn, stillThere, stoppedNodes } from './shown-steps';
import { removeTrigger, TriggerSettings } from './TriggerSettings';
import { isCallOf, pricesByNode } from './standing';
import { useShortcuts } from './use-shortcuts';
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
  /** The same of a run that it is compared with. */
  others: ReadonlyMap<string, NodeStanding> | undefined;
  /** What a run will cost by node, as past ones did. */
  price: Price | undefined;
  /** Whether it was never saved. */
  isNew: boolean;
  mayEdit: boolean;
  /** Somebody who adds steps keeps the palette, also when the flow is opened again after it was saved. */
  isAdding: boolean;
  onAdding: () => void;
}

const NONE: ReadonlyMap<string, NodeStanding> = new Map();
/** Where the palette stands beside the canvas. */
const WIDE = '(min-width: 75.01em)';
/** Where the outline is the editor: a finger would move boxes instead of the view. */
const PHONE = '(max-width: 48em)';

export function StudioView(props: Props) {
  const { studio, palette, tools, check, run, standings, others, price, mayEdit } = props;
  const { text, layout, document, graph, language } = studio;
  const [step] = useSearchParam('step');
  const asked =
    step === null ? undefined : nodesWithin(graph).find(({ key }) => isCallOf(step, key));
  const [chosen, setChosen] = useState<readonly string[]>(asked ? [asked.key] : []);
  const selected = useMemo(
    () => stillThere(chosen, graph, layout, document),
    [chosen, graph, layout, document],
  );
  const [into, setInto] = useState<string | null>(null);
  const [focus, setFocus] = useState<string | null>(asked?.key ?? null);
  const [isPhone] = useState(() => globalThis.matchMedia(PHONE).matches);
  const [view, setView] = useState(isPhone ? 'outline' : 'canvas');
  const [side, setSide] = useState<string | null>('settings');
  const field = useRef<HTMLInputElement>(null);
  const [isFolded, setFolded] = useState(!mayEdit || isPhone);
  const searchPalette = () => {
    flushSync(() => setFolded(false));
    field.current?.focus();
  };
  const entries = useMemo(() => paletteEntries(palette, tools), [palette, tools]);
  const problems = check.check?.problems;
  const marks = useMemo((): Marks => {
    const found = new Map<string, NodeProblem[]>();
    for (const problem of problems ?? []) {
      const key = nodeAtPointer(graph, problem.pointer)?.key;
      if (key !== undefined) found.set(key, [...(found.get(key) ?? []), problem]);
    }
    const stateOf = (key: string) => (run ? stateIn(run, key, standings) : null);
    const prices = pricesByNode(price);
    return run
      ? { problems: found, stateOf, standings, others, parts: itemsDone(run.progress, graph.nodes) }
      : { problems: found, stateOf, standings: NONE, prices };
  }, [problems, graph, run, standings, others, price]);
  const { boxes, lines, items } = useMemo(
    () => drawnBoxes(graph, layout, triggersOf(document), marks),
    [graph, layout, document, marks],
  );
  const select = (keys: readonly string[]) => {
    setChosen(keys);
    setInto(null);
    if (keys.length > 0) setSide('settings');
  };
  const choose = (key: string, isFurther: boolean) => {
    const others = isFurther ? selected.filter((each) => each !== key) : [];
    select(isFurther && selected.includes(key) ? others : [...others, key]);
  };
  const node = nodesWithin(graph).find(({ key }) => key === selected[0]);

  const add = (entry: Entry, at: Point | null = null, lane: string | null = into) => {
    props.onAdding();
    if (entry.kind === 'trigger') return addTrigger(entry);
    const after = lane === null ? node : undefined;
    const target =
      lane === null
        ? (graphsWithin(graph).find(({ nodes }) => nodes.some(({ key }) => key === after?.key)) ??
          graph)
        : (graphsWithin(graph).find(({ path }) => JSON.stringify(path) === lane) ?? graph);
    const last = target.nodes.findLast(({ isImplied, type }) => !isImplied && type !== 'output');
    const before =
      after && !after.isImplied ? after : target.isRow || lane !== null ? last : undefined;
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
    setChosen([key]);
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
    setFocus(triggerKey(count));
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
            searchPalette();
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
    a: searchPalette,
    n: writeNote,
    c: () => globalThis.document.getElementById(COMES_AFTER)?.focus(),
    '/': () => globalThis.document.getElementById(FIND_STEP)?.focus(),
  };
  const keys = (event: KeyboardEvent) => {
    // The drawing has its own; in the outline they do the same.
    if (view === 'outline' && mayEdit && DELETE_KEYS.includes(event.key) && selected.length > 0) {
      event.preventDefault();
      remove(selected, []);
      return;
    }
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
    if (key === 'a') setChosen(boxes.map(({ id }) => id));
    else if (mayEdit) (isRedo ? studio.redo : studio.undo)();
  };
  const copied = (event: ClipboardEvent) => {
    const nodes = copyNodes(text, language, selected);
    const isText = globalThis.getSelection()?.isCollapsed === false;
    if (nodes.length === 0 || isText) return;
    event.preventDefault();
    event.clipboardData?.setData('text/plain', stringify(nodes));
  };
  const pasted = (event: ClipboardEvent) => {
    const nodes = mayEdit ? pastedNodes(event.clipboardData?.getData('text/plain') ?? '') : [];
    if (nodes.length === 0) return;
    event.preventDefault();
    paste(nodes);
  };
  const whole = useRef<HTMLDivElement>(null);
  useShortcuts(whole, { onKey: keys, onCopy: copied, onPaste: pasted });
  const stopped = run === undefined ? [] : stoppedNodes(nodesWithin(graph), standings);
  const trigger = triggersIn(selected.slice(0, 1))[0] ?? null;
  const isDrawing = isDrawingOnly(selected);
  const holder = nodesWithin(graph).find(({ graphs }) =>
    graphs.some(({ path }) => JSON.stringify(path) === into),
  );
  const place = holder
    ? t`Adds a step inside ${nodeTitle(holder)}.`
    : node && !node.isImplied
      ? t`Adds a step after ${nodeTitle(node)}.`
      : t`Click to add, or drag it to its place.`;
  return (
    <div className={classes.studio} data-folded={isFolded} ref={whole}>
      {!isFolded && (
        <PalettePanel entries={entries} place={place} field={field} onAdd={(entry) => add(entry)} />
      )}
      <div className={classes.middle}>
        <Finder
          studio={studio}
          view={view}
          onView={setView}
          onNote={mayEdit ? writeNote : undefined}
          isFolded={isFolded}
          onFold={
            mayEdit ? (isHidden) => (isHidden ? setFolded(true) : searchPalette()) : undefined
          }
          onFound={(key) => {
            select([key]);
            setFocus(key);
          }}
        />
        {isPhone && mayEdit && view === 'canvas' && (
          <Text size="xs" c="dimmed" mb="xs">
            {t`On a small screen the drawing is for looking. Change the flow in the outline.`}
          </Text>
        )}
        {view === 'canvas' ? (
          <CanvasActions value={actions}>
            <ReactFlowProvider>
              <Canvas
                boxes={boxes}
                lines={lines}
                selected={selected}
                focus={focus}
                mayEdit={mayEdit && !isPhone}
                onCutOff={
                  mayEdit && !props.isAdding && !isFolded && globalThis.matchMedia(WIDE).matches
                    ? () => setFolded(true)
                    : undefined
                }
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
            <OutlineView {...{ studio, selected, marks, actions }} onSelect={choose} />
          </div>
        )}
      </div>
      <div className={classes.side}>
        <Tabs value={side} onChange={setSide} keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="settings">{t`Settings`}</Tabs.Tab>
            <Tabs.Tab value="yaml">{t`YAML`}</Tabs.Tab>
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
                other={others?.get(node.key)}
                price={marks.prices?.get(node.key)}
                runId={run?.id ?? null}
                runBranch={branchOf(run, document)}
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
                {stopped.map((each) => (
                  <section key={each.key} aria-label={nodeTitle(each)}>
                    <Text fw={600}>{nodeTitle(each)}</Text>
                    <LastRun
                      runId={run?.id ?? null}
                      node={each}
                      standing={standings.get(each.key)}
                      other={undefined}
                    />
                  </section>
                ))}
                <FlowSettings studio={studio} isNew={props.isNew} readOnly={!mayEdit} />
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
