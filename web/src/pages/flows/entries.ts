/** What the palette offers: triggers, types of nodes and tools, each as the node that it adds. */
import type { FlowPalette } from '@/api/flows';
import type { Tool } from '@/api/run-types';

export interface Entry {
  id: string;
  title: string;
  description: string;
  group: string;
  /** How much harm it can do, for tools. */
  risk: Tool['risk'] | null;
  kind: 'trigger' | 'node';
  type: string;
  fields: Record<string, unknown>;
}

const ORDER = [
  'Start',
  'Code',
  'Agents',
  'People',
  'Logic',
  'Flows',
  'Plug-ins',
  'Messages and services',
  'Change data',
  'Read data',
];

export function paletteEntries(palette: FlowPalette, tools: readonly Tool[]): Entry[] {
  const triggers = palette.triggers.map(({ type, title, description, starter }): Entry => ({
    ...{ id: `trigger:${type}`, title, description, group: 'Start', risk: null },
    ...{ kind: 'trigger', type, fields: starter },
  }));
  const nodes = palette.nodes
    // Tools are listed one by one.
    .filter(({ type }) => type !== 'tool')
    .flatMap(({ type, description, group, starters }) =>
      starters.map(({ title, fields }): Entry => ({
        ...{ id: `${type}:${title}`, title, description, group, risk: null },
        ...{ kind: 'node', type, fields },
      })),
    );
  const calls = tools.map((tool): Entry => ({
    ...{ id: `tool:${tool.name}`, title: tool.title, description: tool.description },
    ...{ group: groupOf(tool), risk: tool.risk, kind: 'node', type: 'tool' },
    fields: { tool: tool.name, arguments: {} },
  }));
  const agents = palette.agents.map(({ name, title, description }): Entry => ({
    ...{ id: `agent:${name}`, title, description, group: 'Agents', risk: null },
    ...{ kind: 'node', type: 'agent', fields: { agent: name, instructions: 'Do your part.' } },
  }));
  const rank = ({ group }: Entry) => (ORDER.includes(group) ? ORDER.indexOf(group) : ORDER.length);
  return [...triggers, ...nodes, ...agents, ...calls].sort((a, b) => rank(a) - rank(b));
}

function groupOf({ name, effects }: Tool): string {
  if (name.startsWith('plugin.')) return 'Plug-ins';
  if (effects.includes('network')) return 'Messages and services';
  return effects.includes('writes') ? 'Change data' : 'Read data';
}

/** Entries in which every word occurs. */
export function foundEntries(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ title, description, group, type }) => {
    const told = `${title} ${description} ${group} ${type}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
