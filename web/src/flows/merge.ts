/** Two people's changes to one flow, put together by node: what only one of them changed is taken from them. */
import { readYaml, removeValue, setValue, type Value, valueAt } from './document';
import { addNode, type Fields, graphOf, removeNodes, setField } from './edits';
import type { Layout } from './layout';
import { type FlowNode, graphsWithin, type Language, nodesWithin } from './graph';

export interface Clash {
  /** The node, or the field of the document, that both changed. */
  what: string;
  mine: Value;
  theirs: Value;
}

export interface Merged {
  /** Their text with my changes; where both changed the same, theirs. */
  text: string;
  clashes: Clash[];
}

const isEqual = (one: Value, other: Value) => JSON.stringify(one) === JSON.stringify(other);

export function mergeFlows(base: string, mine: string, theirs: string, language: Language): Merged {
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
      // What they put into it, or changed there, would go with it.
      if (isAlike(key, before, other)) text = removeNodes(text, language, [key]);
      else clashes.push(clash);
    } else if (was === undefined) {
      const made = added(text, mine, is, language);
      // What it was put into is gone.
      if (made === null) clashes.push(clash);
      else text = made;
    } else text = replaced(text, key, fieldsOf(was), fieldsOf(is), language);
  }
  return { text, clashes };
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
