/** Two people's changes to one flow, put together by node: what only one of them changed is taken from them. */
import { t } from '@lingui/core/macro';
import { Lexer } from 'yaml';
import { readYaml, removeValue, setValue, type Value, valueAt } from './document';
import { addNode, ERROR_PORT, type Fields, graphOf, removeNodes, setField } from './edits';
import type { Layout } from './layout';
import {
  edgesOf,
  type FlowNode,
  graphsWithin,
  jumpOf,
  type Language,
  nodesWithin,
  splitNeed,
} from './graph';

/** A flow as it is edited: what it means, and where it is drawn. */
export interface Drawing {
  text: string;
  layout: Layout;
}

export interface Clash {
  /** The node, or the field of the document, that both changed. */
  what: string;
  mine: Value;
  theirs: Value;
  /** Steps that it came after and that are gone on the other side: the node is kept without those edges. */
  gone?: string[];
}

export interface Merged {
  /** Their text with my changes; where both changed the same, theirs. */
  text: string;
  clashes: Clash[];
}

/** My changes since the base on top of theirs, drawn and written. */
export function mergeDrawings(
  base: Drawing,
  mine: Drawing,
  theirs: Drawing,
  language: Language,
): { drawing: Drawing; clashes: Clash[] } {
  const { text, clashes } = mergeFlows(base.text, mine.text, theirs.text, language);
  const layout = mergeLayouts(base.layout, mine.layout, theirs.layout);
  return { drawing: { text, layout }, clashes };
}

/** Keys of the boxes that both moved, to different places: a merge keeps mine, and the person must be told. */
export function movedByBoth(base: Layout, mine: Layout, theirs: Layout): string[] {
  return Object.keys(mine.places).filter((key) => {
    const [was, is, there] = [base, mine, theirs].map(({ places }) => places[key]);
    return there !== undefined && !isEqual(is, was) && !isEqual(there, was) && !isEqual(is, there);
  });
}

export const isSameDrawing = (one: Drawing, other: Drawing) =>
  one.text === other.text && isEqual(one.layout, other.layout);

const isEqual = (one: Value, other: Value) => JSON.stringify(one) === JSON.stringify(other);

export function mergeFlows(base: string, mine: string, theirs: string, language: Language): Merged {
  if (readYaml(mine).problem !== null || readYaml(theirs).problem !== null)
    return { text: theirs, clashes: mine === theirs ? [] : [{ what: t`the text`, mine, theirs }] };
  const clashes: Clash[] = [];
  let text = mergeFields(base, mine, theirs, clashes);
  const [before, own, other] = [base, mine, theirs].map((each) => ownNodes(each, language));
  const keys = new Set([...(before?.keys() ?? []), ...(own?.keys() ?? [])]);
  for (const key of keys) {
    const [was, is, there] = [before?.get(key), own?.get(key), other?.get(key)];
    const [old, ours, their] = [was, is, there].map((node) => node && fieldsOf(node));
    if (isEqual(old, ours) || isEqual(ours, their)) continue;
    const clash = { what: key, mine: ours, theirs: their };
    if (!isEqual(old, their)) clashes.push(clash);
    else if (is === undefined) {
      // What they put into it, changed there or connected to it would go with it.
      const isFree = isAlike(key, before, other) && !isJoined(key, base, theirs, language);
      if (isFree) text = removeNodes(text, language, [key]);
      else clashes.push(clash);
    } else if (was === undefined) {
      const made = added(text, mine, is, language);
      // What it was put into is gone.
      if (made === null) clashes.push(clash);
      else text = made;
    } else text = replaced(text, key, fieldsOf(was), fieldsOf(is), language);
  }
  const lost = without(without(commentsIn(mine), commentsIn(base)), commentsIn(text));
  if (lost.length > 0)
    clashes.push({
      what: 'comments',
      mine: lost,
      theirs: without(commentsIn(theirs), commentsIn(base)),
    });
  return cutLooseEnds(text, theirs, clashes, language);
}

/** The comments of a text: the one thing in it that belongs to no node or field. */
function commentsIn(text: string): string[] {
  const pieces = [...new Lexer().lex(text)];
  // What follows this mark is the text of a value.
  return pieces.filter((piece, at) => piece.startsWith('#') && pieces[at - 1] !== '\u001f');
}

/** A list without the items of another, each as often as it is there. */
function without(items: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return items.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** An edge to a step that only the other side removed leads nowhere: it is cut, and told. */
function cutLooseEnds(
  text: string,
  theirs: string,
  clashes: readonly Clash[],
  language: Language,
): Merged {
  const known = looseEnds(theirs, language);
  const told = [...clashes];
  let made = text;
  for (const [key, { node, gone }] of looseEnds(text, language)) {
    if (known.has(key)) continue;
    const kept = node.needs.filter((need) => !gone.includes(splitNeed(need).before));
    if (kept.length < node.needs.length) made = setField(made, language, key, ['needs'], kept);
    if (gone.includes(jumpOf(node))) made = setField(made, language, key, ['on_error'], undefined);
    told.push({ what: key, mine: fieldsOf(node), theirs: undefined, gone });
  }
  return { text: made, clashes: told };
}

/** Nodes that come after, or jump to, ids that their graph does not have. */
function looseEnds(text: string, language: Language) {
  const found = new Map<string, { node: FlowNode; gone: string[] }>();
  for (const { nodes } of graphsWithin(graphOf(text, language))) {
    const ids = new Set(['', ...nodes.map(({ id }) => id)]);
    for (const node of nodes) {
      const named = [...node.needs.map((need) => splitNeed(need).before), jumpOf(node)];
      const gone = named.filter((id) => !ids.has(id));
      if (gone.length > 0) found.set(node.key, { node, gone: [...new Set(gone)] });
    }
  }
  return found;
}

/** Whether the nodes inside a node are the same on both sides. */
function isAlike(
  key: string,
  one: ReadonlyMap<string, FlowNode> | undefined,
  other: ReadonlyMap<string, FlowNode> | undefined,
): boolean {
  const inside = (nodes: ReadonlyMap<string, FlowNode> | undefined) =>
    [...(nodes ?? [])]
      .filter(([inner]) => inner.startsWith(`${key}/`))
      .map(([inner, node]) => [inner, fieldsOf(node)]);
  return isEqual(inside(one), inside(other));
}

/** Whether edges that the base does not have lead from the node. */
function isJoined(key: string, base: string, theirs: string, language: Language): boolean {
  const [before, now] = [base, theirs].map((text) =>
    graphsWithin(graphOf(text, language))
      .flatMap(edgesOf)
      .filter((edge) => edge.before === key || (edge.after === key && edge.port === ERROR_PORT))
      .map(({ id }) => id),
  );
  return (now ?? []).some((id) => !before?.includes(id));
}

/** The nodes of all graphs by key, each without the graphs inside it, whose nodes are merged by themselves. */
function ownNodes(text: string, language: Language): Map<string, FlowNode> {
  const real = nodesWithin(graphOf(text, language)).filter(({ isImplied }) => !isImplied);
  return new Map(real.map((node) => [node.key, node]));
}

function fieldsOf(node: FlowNode): Fields {
  const inner = new Set(node.graphs.map(({ path }) => String(path[node.path.length])));
  const own = Object.entries(node.fields).filter(([name]) => !inner.has(name));
  return { ...Object.fromEntries(own), type: node.type, needs: [...node.needs] };
}

function mergeFields(base: string, mine: string, theirs: string, clashes: Clash[]): string {
  const [before, own, other] = [base, mine, theirs].map((each) => readYaml(each).value);
  const names = new Set([before, own, other].flatMap((each) => Object.keys(each ?? {})));
  let text = theirs;
  for (const name of names) {
    if (['steps', 'graph', 'nodes'].includes(name)) continue;
    const [was, is, there] = [before, own, other].map((each) => valueAt(each, [name]));
    if (isEqual(was, is) || isEqual(is, there)) continue;
    if (!isEqual(was, there)) clashes.push({ what: name, mine: is, theirs: there });
    else text = is === undefined ? removeValue(text, [name]) : setValue(text, [name], is);
  }
  return text;
}

/** Adds a node that one side made, to the graph that it belongs to there; null where that is gone. */
function added(text: string, from: string, node: FlowNode, language: Language): string | null {
  const source = graphsWithin(graphOf(from, language)).find(({ nodes }) =>
    nodes.some(({ key }) => key === node.key),
  );
  const outer = node.key.includes('/') ? node.key.slice(0, node.key.lastIndexOf('/')) : null;
  const root = graphOf(text, language);
  const holder = nodesWithin(root).find(({ key }) => key === outer);
  const graph = outer === null ? root : holder?.graphs.find(({ name }) => name === source?.name);
  if (!graph) return null;
  // Its holder is new as well, and brought it along.
  if (graph.nodes.some(({ key }) => key === node.key)) return text;
  const { id: _id, type: _type, needs: _needs, ...fields } = node.fields;
  return addNode(text, language, {
    graph: graph.path,
    id: node.id,
    type: node.type,
    fields,
    needs: node.needs,
  });
}

function replaced(
  text: string,
  key: string,
  before: Fields,
  after: Fields,
  language: Language,
): string {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  let made = text;
  for (const name of names) {
    if (!isEqual(before[name], after[name]))
      made = setField(made, language, key, [name], after[name]);
  }
  return made;
}

/** Two people's drawings: what I changed, on top of theirs. A note that both wrote is there twice. */
export function mergeLayouts(base: Layout, mine: Layout, theirs: Layout): Layout {
  const places = { ...theirs.places };
  for (const [key, at] of Object.entries(mine.places)) {
    if (!isEqual(at, base.places[key])) places[key] = at;
  }
  const changed = <Item extends { id: string }>(own: readonly Item[], old: readonly Item[]) =>
    own.filter(
      (item) =>
        !isEqual(
          item,
          old.find(({ id }) => id === item.id),
        ),
    );
  const joined = <Item extends { id: string }>(
    own: readonly Item[],
    old: readonly Item[],
    other: readonly Item[],
  ): Item[] => {
    const gone = old.filter((item) => !own.some(({ id }) => id === item.id));
    const kept = other.filter((item) => !gone.some((each) => isEqual(each, item)));
    return changed(own, old).reduce<Item[]>((all, item) => {
      const there = all.find(({ id }) => id === item.id);
      if (
        there &&
        isEqual(
          there,
          old.find(({ id }) => id === item.id),
        )
      )
        return all.map((each) => (each === there ? item : each));
      if (!there) return [...all, item];
      let number = 1;
      while (all.some(({ id }) => id === String(number))) number += 1;
      return [...all, { ...item, id: String(number) }];
    }, kept);
  };
  const opened = base.closed.filter((key) => !mine.closed.includes(key));
  const closed = [...theirs.closed.filter((key) => !opened.includes(key)), ...mine.closed];
  return {
    places,
    closed: [
      ...new Set(closed.filter((key) => theirs.closed.includes(key) || !base.closed.includes(key))),
    ],
    notes: joined(mine.notes, base.notes, theirs.notes),
    groups: joined(mine.groups, base.groups, theirs.groups),
  };
}
