/** What people do to a flow, as changes of its text: add, remove, connect, rename, set, paste. */
import {
  insertItem,
  type Path,
  readYaml,
  removeValue,
  setValue,
  type Value,
  valueAt,
} from './document';
import { Mistake, readTemplate } from './expressions/texts';
import {
  type FlowGraph,
  type FlowNode,
  graphsWithin,
  jumpOf,
  type Language,
  nodesWithin,
  placesAt,
  readGraph,
  splitNeed,
} from './graph';

export type Fields = Record<string, Value>;
export const ERROR_PORT = 'error';

export function graphOf(text: string, language: Language): FlowGraph {
  return readGraph(readYaml(text).value, language);
}

function graphAround(text: string, language: Language, key: string): FlowGraph | undefined {
  return graphsWithin(graphOf(text, language)).find(({ nodes }) =>
    nodes.some((node) => node.key === key),
  );
}

function nodeAt(text: string, language: Language, key: string): FlowNode | undefined {
  return nodesWithin(graphOf(text, language)).find((node) => node.key === key);
}

/** The id, or the id with the first number behind it that no other node uses. */
export function freeId(text: string, language: Language, wanted: string): string {
  const taken = new Set(nodesWithin(graphOf(text, language)).map(({ id }) => id));
  const base = wanted
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[^a-z]+|_+$/g, '');
  const start = (base === '' ? 'step' : base).slice(0, 36);
  let id = start;
  for (let number = 2; taken.has(id); number += 1) id = `${start}_${number}`;
  return id;
}

export interface NewNode {
  /** Where its list of nodes is. */
  graph: Path;
  id: string;
  type: string;
  fields: Fields;
  /** What it needs. */
  needs: readonly string[];
}

export function addNode(text: string, language: Language, added: NewNode): string {
  const { graph: path, id, type, fields, needs } = added;
  const wanted = wantedNeeds(text, language, path);
  const node = { id, type, ...(needs.length > 0 ? { needs: [...needs] } : {}), ...fields };
  const made = insertItem(text, path, placeInList(text, language, path, needs), node);
  wanted.set(id, needs);
  return rewired(made, language, path, wanted);
}

/** Nodes go to the end. A step goes behind what it needs: the result follows the last step, and stays with it. */
function placeInList(
  text: string,
  language: Language,
  path: Path,
  needs: readonly string[],
): number {
  const graph = graphsWithin(graphOf(text, language)).find(samePath(path));
  const real = graph?.nodes.filter(({ isImplied }) => !isImplied) ?? [];
  if (!graph?.isRow) return real.length;
  const before = needs.map((need) => splitNeed(need).before);
  return real.findLastIndex(({ id }) => before.includes(id)) + 1;
}

/** Removes nodes, and every edge to them. What came after one comes after what it needed. */
export function removeNodes(text: string, language: Language, keys: readonly string[]): string {
  return keys.reduce((made, key) => removeNode(made, language, key), text);
}

function removeNode(text: string, language: Language, key: string): string {
  const graph = graphAround(text, language, key);
  const node = graph?.nodes.find((each) => each.key === key);
  if (!graph || !node || node.isImplied) return text;
  const wanted = wantedNeeds(text, language, graph.path);
  wanted.delete(node.id);
  for (const [id, needs] of wanted) {
    if (!needs.some((need) => splitNeed(need).before === node.id)) continue;
    const kept = needs.filter((need) => splitNeed(need).before !== node.id);
    wanted.set(id, [...new Set([...kept, ...node.needs])]);
  }
  let made = removeValue(text, node.path);
  for (const other of graphsWithin(graphOf(made, language)).find(samePath(graph.path))?.nodes ??
    []) {
    if (jumpOf(other) === node.id) made = removeValue(made, [...other.path, 'on_error']);
  }
  return rewired(made, language, graph.path, wanted);
}

export interface Connection {
  before: string;
  after: string;
  port: string;
}

/** A jump after an error is a setting of the node before; every other edge is a need of the node after. */
export function connect(text: string, language: Language, edge: Connection): string {
  const graph = graphAround(text, language, edge.after);
  const before = graph?.nodes.find(({ key }) => key === edge.before);
  const after = graph?.nodes.find(({ key }) => key === edge.after);
  if (!graph || !before || !after || before === after) return text;
  if (after.isImplied) return connect(withResult(text, graph, after), language, edge);
  if (edge.port === ERROR_PORT) {
    return setValue(text, [...before.path, 'on_error'], { goto: after.id });
  }
  const need = edge.port === '' ? before.id : `${before.id}.${edge.port}`;
  if (after.needs.includes(need)) return text;
  const wanted = wantedNeeds(text, language, graph.path).set(after.id, [...after.needs, need]);
  return rewired(text, language, graph.path, wanted);
}

export function disconnect(text: string, language: Language, edge: Connection): string {
  const graph = graphAround(text, language, edge.after);
  const before = graph?.nodes.find(({ key }) => key === edge.before);
  const after = graph?.nodes.find(({ key }) => key === edge.after);
  if (!graph || !before || !after) return text;
  if (after.isImplied) return disconnect(withResult(text, graph, after), language, edge);
  if (edge.port === ERROR_PORT) return removeValue(text, [...before.path, 'on_error']);
  const need = edge.port === '' ? before.id : `${before.id}.${edge.port}`;
  const left = after.needs.filter((each) => each !== need);
  const wanted = wantedNeeds(text, language, graph.path).set(after.id, left);
  return rewired(text, language, graph.path, wanted);
}

/** Writes down the result of steps in a row, which is the output of the last one until it is connected otherwise. */
function withResult(text: string, graph: FlowGraph, { id, type, fields }: FlowNode): string {
  const value = fields.value ?? null;
  const kept = valueAt(readYaml(text).value, ['output']);
  const made = kept === undefined ? text : removeValue(text, ['output']);
  return insertItem(made, graph.path, graph.nodes.length - 1, { id, type, value });
}

/** Another id, in edges and expressions too. */
export function renameNode(text: string, language: Language, key: string, id: string): string {
  const graph = graphAround(text, language, key);
  const node = graph?.nodes.find((each) => each.key === key);
  if (!graph || !node || node.isImplied || node.id === id) return text;
  const wanted = new Map(
    [...wantedNeeds(text, language, graph.path)].map(([name, needs]) => [
      name === node.id ? id : name,
      needs.map((need) => renamedNeed(need, node.id, id)),
    ]),
  );
  let made = setValue(text, [...node.path, 'id'], id);
  const after = graphsWithin(graphOf(made, language)).find(samePath(graph.path));
  for (const other of after?.nodes ?? []) {
    if (jumpOf(other) === node.id) made = setValue(made, [...other.path, 'on_error', 'goto'], id);
  }
  made = rewired(made, language, graph.path, wanted);
  return renamedInExpressions(made, language, graph.path, node.id, id);
}

const renamedNeed = (need: string, from: string, to: string) => {
  const { before, port } = splitNeed(need);
  return before === from ? `${to}${port === '' ? '' : `.${port}`}` : need;
};

/** Replaces `nodes.<id>` in the expressions of the flow to which a graph belongs. */
function renamedInExpressions(
  text: string,
  language: Language,
  path: Path,
  from: string,
  to: string,
): string {
  const root = graphOf(text, language);
  const flows = graphsWithin(root).filter(({ isFlow }) => isFlow);
  const flow = flows.filter((each) => isWithin(path, each.path)).at(-1) ?? root;
  const inner = flows.filter((each) => each !== flow && isWithin(each.path, flow.path));
  const reference = new RegExp(`\\bnodes\\.${from}\\b`, 'g');
  // The output of a join has a field for each step before it, by its id.
  const joins = (graphsWithin(root).find(samePath(path))?.nodes ?? []).filter(
    ({ type, needs }) => type === 'join' && needs.some((need) => splitNeed(need).before === to),
  );
  const renamed = (code: string) =>
    joins.reduce(
      (made, { id }) =>
        made.replaceAll(
          new RegExp(`\\bnodes\\.${id}\\.output\\.${from}\\b`, 'g'),
          `nodes.${id}.output.${to}`,
        ),
      code.replaceAll(reference, `nodes.${to}`),
    );
  const whole = readYaml(text).value;
  const changes: [Path, string][] = [];
  const visit = (value: Value, at: Path, bare: ReadonlySet<string>) => {
    if (inner.some((each) => each.path.join('/') === at.join('/'))) return;
    if (typeof value === 'string') {
      const isBare = bare.has(at.join('/'));
      const made = isBare ? renamed(value) : inExpressions(value, renamed);
      if (made !== value) changes.push([at, made]);
    } else if (typeof value === 'object' && value !== null) {
      Object.entries(value).forEach(([name, item]) =>
        visit(item, [...at, Array.isArray(value) ? Number(name) : name], bare),
      );
    }
  };
  const bare = new Set(
    nodesWithin(root).flatMap((node) =>
      (language.types.get(node.type)?.expressions ?? []).flatMap((pointer) =>
        placesAt(node.fields, pointer).map((place) => [...node.path, ...place].join('/')),
      ),
    ),
  );
  visit(valueAt(whole, flow.path), flow.path, bare);
  if (flow.isRow) visit(valueAt(whole, ['output']), ['output'], bare);
  return changes.reduce((made, [at, value]) => setValue(made, at, value), text);
}

/** Changes every `${ … }` of a text; where one has no end, those that have one. */
function inExpressions(text: string, change: (code: string) => string): string {
  try {
    let [made, done] = ['', 0];
    for (const { text: code, start } of readTemplate(text).pieces) {
      made += text.slice(done, start) + change(code);
      done = start + code.length;
    }
    return made + text.slice(done);
  } catch (problem) {
    if (!(problem instanceof Mistake)) throw problem;
    return text.replaceAll(/\$\{[^}]*\}/g, change);
  }
}

/** Sets a field of a node; undefined takes it away. */
export function setField(
  text: string,
  language: Language,
  key: string,
  field: Path,
  value: Value,
): string {
  const node = nodeAt(text, language, key);
  if (!node) return text;
  const path = node.isImplied ? ['output'] : [...node.path, ...field];
  if (value === undefined)
    return valueAt(readYaml(text).value, path) === undefined ? text : removeValue(text, path);
  return setValue(text, path, value);
}

/** Moves a node to the end of another graph, with another id where its own is taken; its edges stay behind. */
export function moveNode(text: string, language: Language, key: string, into: Path): string {
  const node = nodeAt(text, language, key);
  const graph = graphAround(text, language, key);
  if (!node || !graph || node.isImplied || samePath(into)(graph) || isWithin(into, node.path))
    return text;
  const target = graphsWithin(graphOf(text, language)).find(samePath(into));
  if (!target) return text;
  if (target.nodes.some(({ id }) => id === node.id)) {
    const id = freeId(text, language, node.id);
    const free = `${node.key.slice(0, node.key.length - node.id.length)}${id}`;
    return moveNode(renameNode(text, language, key, id), language, free, into);
  }
  const holder = nodesWithin(graphOf(text, language)).find(({ graphs }) =>
    graphs.some(samePath(into)),
  );
  const { needs: _needs, ...fields } = node.fields;
  const removed = removeNode(text, language, key);
  const root = graphOf(removed, language);
  const moved =
    holder === undefined
      ? root
      : nodesWithin(root)
          .find((each) => each.key === holder.key)
          ?.graphs.find(({ name }) => name === target.name);
  if (!moved) return text;
  return addNode(removed, language, {
    graph: moved.path,
    id: node.id,
    type: node.type,
    fields: omit(fields, ['id', 'type']),
    needs: [],
  });
}

/** Nodes as a list in YAML, as the clipboard holds them. */
export function copyNodes(text: string, language: Language, keys: readonly string[]): Fields[] {
  return nodesWithin(graphOf(text, language))
    .filter(({ key, isImplied }) => keys.includes(key) && !isImplied)
    .map(({ id, type, needs, fields }) => ({ id, type, ...fields, needs: [...needs] }));
}

/** Adds copied nodes with ids that are free; edges among them are kept. */
export function pasteNodes(
  text: string,
  language: Language,
  graph: Path,
  nodes: readonly Fields[],
): { text: string; ids: string[] } {
  let made = text;
  const ids = new Map<string, string>();
  for (const node of nodes) {
    const id = freeId(made, language, typeof node.id === 'string' ? node.id : 'step');
    ids.set(String(node.id), id);
    const needs = (Array.isArray(node.needs) ? node.needs.map(String) : []).flatMap((need) => {
      const { before, port } = splitNeed(need);
      const known = ids.get(before);
      return known === undefined ? [] : [`${known}${port === '' ? '' : `.${port}`}`];
    });
    const fields = omit(node, ['id', 'type', 'needs']);
    const type = typeof node.type === 'string' ? node.type : '';
    made = addNode(made, language, { graph, id, type, fields, needs });
  }
  return { text: made, ids: [...ids.values()] };
}

/** What every node of a graph needs now, by id. */
function wantedNeeds(text: string, language: Language, path: Path): Map<string, readonly string[]> {
  const graph = graphsWithin(graphOf(text, language)).find(samePath(path));
  const real = graph?.nodes.filter(({ isImplied }) => !isImplied) ?? [];
  return new Map(real.map(({ id, needs }) => [id, needs]));
}

/** Writes the needs of nodes that differ from what is wanted; a step in a row need not name the one before it. */
function rewired(
  text: string,
  language: Language,
  path: Path,
  wanted: ReadonlyMap<string, readonly string[]>,
): string {
  const graph = graphsWithin(graphOf(text, language)).find(samePath(path));
  if (!graph) return text;
  let made = text;
  graph.nodes.forEach((node, index) => {
    const needs = wanted.get(node.id);
    if (needs === undefined || node.isImplied) return;
    const before = graph.nodes[index - 1];
    const usual = graph.isRow && before ? [before.id] : [];
    const isUsual = usual.join() === needs.join();
    const isWritten = node.fields.needs !== undefined;
    if (isUsual && isWritten && node.needs.join() !== needs.join()) {
      made = removeValue(made, [...node.path, 'needs']);
    } else if (node.needs.join() !== needs.join()) {
      made = setValue(made, [...node.path, 'needs'], [...needs]);
    } else if (isUsual && isWritten && graph.isRow) {
      made = removeValue(made, [...node.path, 'needs']);
    }
  });
  return made;
}

const samePath = (path: Path) => (graph: Pick<FlowGraph, 'path'>) =>
  graph.path.join('/') === path.join('/');
const isWithin = (path: Path, around: Path) => around.every((name, index) => path[index] === name);
const omit = (fields: Fields, names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
