/** Steps of a flow by words: their titles and ids, what they are, and what is in their settings. */
import { type FlowGraph, type FlowNode, nodesWithin, nodeTitle } from '@/flows/graph';

/** Steps that have every word, those in whose title they are first; two of the same title are told apart by their ids. */
export function stepsFound(graph: FlowGraph, text: string): { value: string; label: string }[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const nodes = nodesWithin(graph);
  const has = (where: string) => words.every((word) => where.toLowerCase().includes(word));
  const found = nodes.filter((node) => has(contentOf(node)));
  const titled = found.filter((node) => has(nodeTitle(node)));
  const rest = found.filter((node) => !titled.includes(node));
  return [...titled, ...rest].map((node) => {
    const title = nodeTitle(node);
    const isOnly = nodes.every((other) => other === node || nodeTitle(other) !== title);
    return { value: node.key, label: isOnly ? title : `${title} (${node.id})` };
  });
}

/** The settings of a step; not those of the steps inside it, which are found themselves. */
function contentOf(node: FlowNode): string {
  const inside = new Set(node.graphs.map(({ path }) => String(path[node.path.length])));
  const own = Object.entries(node.fields).filter(([name]) => !inside.has(name));
  return [nodeTitle(node), node.id, node.type, JSON.stringify(own)].join(' ');
}
