/** Steps in a text from the clipboard. */
import { parse } from 'yaml';
import { type Path, valueAt } from '@/flows/document';
import type { Fields } from '@/flows/edits';

const NODE_LISTS: Path[] = [['nodes'], ['steps'], ['graph', 'nodes']];

/** Nodes in a text from the clipboard: a list of them, a graph, or a whole flow. */
export function pastedNodes(text: string): Fields[] {
  try {
    const found = parse(text) as unknown;
    const list = Array.isArray(found)
      ? (found as unknown[])
      : NODE_LISTS.map((path) => valueAt(found, path)).find(Array.isArray);
    const nodes = (list ?? []) as unknown[];
    return nodes.filter((node): node is Fields => typeof valueAt(node, ['type']) === 'string');
  } catch {
    return [];
  }
}
