/** The graph of a flow as the server compiles it, read from the document: nodes, edges, graphs within nodes. */
import { t } from '@lingui/core/macro';
import { type Path, type Value, valueAt } from './document';
import type { ExpressionRules } from './expressions/tree';

/** What the server says of a type of node; pointers such as `/cases/*` + `/port` lead into its fields. */
export interface NodeShape {
  type: string;
  /** Ways out when there are several: names, or pointers to fields that hold them. */
  exits: readonly string[];
  graphs: readonly string[];
  /** Whole flows, whose nodes have ids of their own. */
  flows: readonly string[];
  /** Fields whose whole text is an expression. */
  expressions: readonly string[];
}

export interface Language {
  types: ReadonlyMap<string, NodeShape>;
  /** A step without a type is told by one of its fields. */
  telling: Readonly<Record<string, string>>;
  /** What expressions may say. */
  expressions: ExpressionRules;
}

export interface FlowNode {
  /** The ids on the way to it, such as `each_row/decide`. */
  key: string;
  id: string;
  type: string;
  title: string;
  /** Where it is in the document. */
  path: Path;
  fields: Readonly<Record<string, Value>>;
  needs: readonly string[];
  ports: readonly string[];
  graphs: readonly FlowGraph[];
  /** The result of steps in a row, which has no text of its own. */
  isImplied: boolean;
}

export interface FlowGraph {
  /** Where its list of nodes is in the document. */
  path: Path;
  /** The name of a branch, where a node holds several graphs. */
  name: string;
  /** Steps follow each other unless they say otherwise. */
  isRow: boolean;
  /** Whether its nodes have ids of their own, apart from those around it. */
  isFlow: boolean;
  nodes: readonly FlowNode[];
}

export interface FlowEdge {
  id: string;
  before: string;
  after: string;
  /** The way out of the node before; `error` for a jump after an error. */
  port: string;
}

/** The step that says what the flow gives back; where no step has this id, the last one does. */
export const RESULT = 'result';

type Fields = Record<string, Value>;
const fieldsOf = (value: Value): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: Value): Value[] => (Array.isArray(value) ? (value as Value[]) : []);
const textOf = (value: Value): string => (typeof value === 'string' ? value : '');

/** The graph of a playbook or a flow. */
export function readGraph(document: Value, language: Language): FlowGraph {
  const whole = fieldsOf(document);
  if (Array.isArray(whole.steps)) return stepsGraph(whole, language);
  const path = whole.nodes === undefined ? ['graph', 'nodes'] : ['nodes'];
  return nodesGraph(document, path, '', '', true, language);
}

function stepsGraph(whole: Fields, language: Language): FlowGraph {
  const nodes: FlowNode[] = [];
  let before: string | undefined;
  listOf(whole.steps).forEach((step, index) => {
    const fields = fieldsOf(step);
    const told = Object.entries(language.telling).find(([field]) => field in fields)?.[1];
    const node = nodeOf(
      step,
      ['steps', index],
      '',
      language,
      {
        id: `step_${index + 1}`,
        type: told ?? '',
        needs: before === undefined ? [] : [before],
      },
      whole,
    );
    nodes.push(node);
    before = node.id;
  });
  if (before !== undefined && nodes.every(({ id }) => id !== RESULT)) {
    const value = whole.output ?? `\${nodes.${before}.output}`;
    nodes.push({
      ...{ key: RESULT, id: RESULT, type: 'output', title: t`Result`, path: [] },
      ...{ fields: { value }, needs: [before], ports: [], graphs: [], isImplied: true },
    });
  }
  return { path: ['steps'], name: '', isRow: true, isFlow: true, nodes };
}

function nodesGraph(
  document: Value,
  path: Path,
  around: string,
  name: string,
  isFlow: boolean,
  language: Language,
): FlowGraph {
  const nodes = listOf(valueAt(document, path)).map((node, index) =>
    nodeOf(node, [...path, index], around, language, { id: '', type: '', needs: [] }, document),
  );
  return { path, name, isRow: false, isFlow, nodes };
}

function nodeOf(
  node: Value,
  path: Path,
  around: string,
  language: Language,
  told: { id: string; type: string; needs: string[] },
  document: Value,
): FlowNode {
  const fields = fieldsOf(node);
  const id = textOf(fields.id) || told.id;
  const type = textOf(fields.type) || told.type;
  const shape = language.types.get(type);
  const key = `${around}${id}`;
  const within = (pointers: readonly string[], isFlow: boolean) =>
    pointers.flatMap((pointer) =>
      placesAt(node, pointer).map((place) => {
        const name = pointer.includes('*') ? String(place.at(-1)) : '';
        return nodesGraph(
          document,
          [...path, ...place, 'nodes'],
          `${key}/`,
          name,
          isFlow,
          language,
        );
      }),
    );
  return {
    key,
    id,
    type,
    title: textOf(fields.title),
    path,
    fields,
    needs: fields.needs === undefined ? told.needs : listOf(fields.needs).map(String),
    ports: (shape?.exits ?? []).flatMap((exit) =>
      exit.startsWith('/')
        ? placesAt(node, exit).map((place) => textOf(valueAt(node, place)))
        : [exit],
    ),
    graphs: [...within(shape?.graphs ?? [], false), ...within(shape?.flows ?? [], true)],
    isImplied: false,
  };
}

/** The paths that a pointer means, in which `*` stands for every key or index. */
export function placesAt(value: Value, pointer: string): Path[] {
  let places: Path[] = [[]];
  for (const name of pointer.split('/').slice(1)) {
    places = places.flatMap((place) => {
      const around = valueAt(value, place);
      if (name !== '*') return valueAt(around, [name]) === undefined ? [] : [[...place, name]];
      if (Array.isArray(around)) return around.map((_, index): Path => [...place, index]);
      return Object.keys(fieldsOf(around)).map((key): Path => [...place, key]);
    });
  }
  return places;
}

/** `gate.approved` is the way `approved` out of the node `gate`. */
export function splitNeed(need: string): { before: string; port: string } {
  const [before = '', port = ''] = need.split('.');
  return { before, port };
}

/** The edges of one graph; those that lead nowhere are left out, as the server does. */
export function edgesOf(graph: FlowGraph): FlowEdge[] {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const edges: FlowEdge[] = [];
  const add = (before: FlowNode | undefined, after: FlowNode | undefined, port: string) => {
    if (!before || !after) return;
    edges.push({
      id: `${before.key}.${port}>${after.key}`,
      before: before.key,
      after: after.key,
      port,
    });
  };
  for (const node of graph.nodes) {
    for (const need of node.needs) {
      const { before, port } = splitNeed(need);
      add(byId.get(before), node, port);
    }
  }
  for (const node of graph.nodes) add(node, byId.get(jumpOf(node)), 'error');
  return edges;
}

/** Where a node goes on after an error. */
export function jumpOf({ fields }: FlowNode): string {
  return textOf(fieldsOf(fields.on_error).goto);
}

/** A graph and all graphs inside its nodes. */
export function graphsWithin(graph: FlowGraph): FlowGraph[] {
  return [graph, ...graph.nodes.flatMap((node) => node.graphs.flatMap(graphsWithin))];
}

export function nodesWithin(graph: FlowGraph): FlowNode[] {
  return graphsWithin(graph).flatMap(({ nodes }) => nodes);
}

export function nodeTitle({ title, id }: Pick<FlowNode, 'title' | 'id'>): string {
  return title === '' ? id : title;
}

/** The node that a problem's JSON pointer is about: the innermost one around it. */
export function nodeAtPointer(graph: FlowGraph, pointer: string): FlowNode | null {
  const parts = pointer.split('/').slice(1);
  if (graph.isRow && parts[0] === 'output')
    return graph.nodes.find(({ id }) => id === RESULT) ?? null;
  const found = nodesWithin(graph).filter(
    ({ path, isImplied }) =>
      !isImplied && path.every((name, index) => String(name) === parts[index]),
  );
  return found.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
}

/** The nodes that have run for sure when this one starts: what its expressions may read. */
export function nodesBefore(graph: FlowGraph, key: string): FlowNode[] {
  for (const inner of graphsWithin(graph)) {
    const node = inner.nodes.find((each) => each.key === key);
    if (!node) continue;
    const byId = new Map(inner.nodes.map((each) => [each.id, each]));
    const found = new Set<FlowNode>();
    const open = [...node.needs];
    for (let need = open.pop(); need !== undefined; need = open.pop()) {
      const before = byId.get(splitNeed(need).before);
      if (!before || found.has(before)) continue;
      found.add(before);
      open.push(...before.needs);
    }
    const outer = key.includes('/') && !inner.isFlow ? key.slice(0, key.lastIndexOf('/')) : null;
    return [...(outer === null ? [] : nodesBefore(graph, outer)), ...found];
  }
  return [];
}
