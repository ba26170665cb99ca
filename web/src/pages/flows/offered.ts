/** Which values fit where somebody types: those whose names begin with what stands behind `${`. */
import { type FlowGraph, type FlowNode, nodesBefore } from '@/flows/graph';

const MOST = 12;

export interface Offered {
  names: string[];
  /** The whole text with a name in the place of what was typed of it. */
  insert: (name: string) => string;
}

export function offeredAt(
  text: string,
  cursor: number,
  names: readonly string[],
  isBare: boolean,
): Offered {
  const before = text.slice(0, cursor);
  const typed = (isBare ? /(^|[^\w.])([a-z][\w.]*)$/ : /(\$\{\s*)([\w.]*)$/).exec(before);
  if (!typed) return { names: [], insert: () => text };
  const word = typed[2] ?? '';
  const fitting = names.filter((name) => name.startsWith(word) && name !== word);
  const rest = text.slice(cursor);
  const end = isBare || /^\s*\}/.test(rest) ? '' : '}';
  return {
    names: fitting.slice(0, MOST),
    insert: (name) => `${text.slice(0, cursor - word.length)}${name}${end}${rest}`,
  };
}

/** What expressions of a node may read: the inputs, the outputs of nodes before it, and the item of a map around it. */
export function valueNames(document: unknown, graph: FlowGraph, node: FlowNode): string[] {
  const { inputs } = (document ?? {}) as { inputs?: { properties?: Record<string, unknown> } };
  const given = Object.keys(inputs?.properties ?? {}).map((name) => `inputs.${name}`);
  const outputs = nodesBefore(graph, node.key).map(({ id }) => `nodes.${id}.output`);
  const around = node.key.includes('/') ? ['item', 'index', 'last'] : [];
  return [...given, ...outputs, ...around, 'run.id'];
}
