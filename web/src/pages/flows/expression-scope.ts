/** What the expressions of a node can read, for the check while somebody types: declared types, and those of the last run. */
import { t } from '@lingui/core/macro';
import type { NodeStanding } from '@/api/runs';
import { checkText, type Found, type Scope } from '@/flows/expressions/check';
import type { NameTypes, Schema } from '@/flows/expressions/types';
import {
  type FlowGraph,
  type FlowNode,
  type Language,
  nodesBefore,
  nodesWithin,
} from '@/flows/graph';

/** What is wrong with a text, or what it gives; a warning is about the values of the last run alone. */
export interface Checked extends Found {
  isWarning: boolean;
}

/** Checks a text of the node's settings; `wanted` is what the field takes. */
export type ExpressionCheck = (text: string, isBare: boolean, wanted: Schema) => Checked;

export function expressionCheck(
  document: unknown,
  graph: FlowGraph,
  node: FlowNode,
  standings: ReadonlyMap<string, NodeStanding>,
  { expressions }: Language,
): ExpressionCheck {
  const before = nodesBefore(graph, node.key);
  const declared = declaredNames(document);
  const sampled = new Map([
    ...declared,
    ...before.flatMap(({ key, id }): [string, Schema][] => {
      const sample = standings.get(key)?.sample;
      return sample === undefined || sample === null
        ? []
        : [[`nodes.${id}.output`, schemaOf(sample)]];
    }),
  ]);
  const readable = new Set(before.map(({ id }) => id));
  const all = new Set(nodesWithin(graph).map(({ id }) => id));
  const unreadable: Scope['unreadable'] = ([root, id = '']) => {
    if (root !== 'nodes' || readable.has(id)) return null;
    return all.has(id)
      ? t`the node ''${id}' cannot have run before; add it to “Comes after”`
      : t`there is no node ''${id}'`;
  };
  return (text, isBare, wanted) => {
    const found = checkText(text, isBare, expressions, { names: declared, unreadable, wanted });
    if (found.reason !== null) return { ...found, isWarning: false };
    const last = checkText(text, isBare, expressions, { names: sampled, unreadable, wanted });
    return { ...last, isWarning: last.reason !== null };
  };
}

/** Triggers add inputs that nobody declares, so that what is not listed is unknown instead of missing. */
function declaredNames(document: unknown): NameTypes {
  const { inputs } = (document ?? {}) as { inputs?: unknown };
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) return new Map();
  return new Map([['inputs', { additionalProperties: true, ...inputs }]]);
}

/** What a value says about the next one: the types of its parts, where they are the same throughout. */
export function schemaOf(value: unknown): Schema {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) {
    const items = new Map(value.map((each) => [JSON.stringify(schemaOf(each)), schemaOf(each)]));
    const [only = true] = items.values();
    return { type: 'array', items: items.size === 1 ? only : true };
  }
  if (typeof value !== 'object') return { type: typeof value };
  const properties = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, schemaOf(part)]),
  );
  return { type: 'object', properties };
}
