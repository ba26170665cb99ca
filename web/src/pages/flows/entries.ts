/** What the palette offers: triggers, types of nodes and tools, each as the node that it adds. */
import { t } from '@lingui/core/macro';
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
  /** The field that gets the output of the step before. */
  takes?: string | null;
}

const ORDER = [
  t`Start`,
  t`Code`,
  t`Agents`,
  t`People`,
  t`Logic`,
  t`Flows`,
  t`Plug-ins`,
  t`Messages and services`,
  t`Change data`,
  t`Read data`,
];

export function paletteEntries(palette: FlowPalette, tools: readonly Tool[]): Entry[] {
  const triggers = palette.triggers.map(({ type, title, description, starter }): Entry => ({
    ...{ id: `trigger:${type}`, title, description, group: t`Start`, risk: null },
    ...{ kind: 'trigger', type, fields: starter },
  }));
  const nodes = palette.nodes
    // Tools are listed one by one.
    .filter(({ type }) => type !== 'tool')
    .flatMap(({ type, description, group, starters }) =>
      starters.map(({ title, fields, takes }): Entry => ({
        ...{ id: `${type}:${title}`, title, description, group, risk: null },
        ...{ kind: 'node', type, fields, takes },
      })),
    );
  const calls = tools.map((tool): Entry => ({
    ...{ id: `tool:${tool.name}`, title: tool.title, description: tool.description },
    ...{ group: groupOf(tool), risk: tool.risk, kind: 'node', type: 'tool' },
    fields: { tool: tool.name, arguments: {} },
  }));
  const agents = palette.agents.map(({ name, title, description }): Entry => ({
    ...{ id: `agent:${name}`, title, description, group: t`Agents`, risk: null },
    ...{ kind: 'node', type: 'agent', fields: { agent: name, instructions: t`Do your part.` } },
    takes: 'context',
  }));
  const rank = ({ group }: Entry) => (ORDER.includes(group) ? ORDER.indexOf(group) : ORDER.length);
  return [...triggers, ...nodes, ...agents, ...calls].sort((a, b) => rank(a) - rank(b));
}

/** What kind of step a node is, in words: the tool that it calls, or how the palette calls it. */
export function kindName(
  palette: FlowPalette,
  tools: readonly Tool[],
  { type, fields }: { type: string; fields?: Readonly<Record<string, unknown>> },
): string {
  const tool = tools.find(({ name }) => name === fields?.tool);
  if (type === 'tool' && tool) return tool.title;
  const starters = palette.nodes.find((each) => each.type === type)?.starters;
  const spoken = fields?.language;
  const starter = starters?.find(({ fields: own }) => own.language === spoken) ?? starters?.[0];
  return starter?.title ?? palette.triggers.find((each) => each.type === type)?.title ?? type;
}

function groupOf({ name, effects }: Tool): string {
  if (name.startsWith('plugin.')) return t`Plug-ins`;
  if (effects.includes('network')) return t`Messages and services`;
  return effects.includes('writes') ? t`Change data` : t`Read data`;
}

/** Entries in which every word occurs, those first that are called so. */
export function foundEntries(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ title, description, group, type }) => {
    const told = `${title} ${description} ${group} ${type}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
  if (words.length === 0) return found;
  const wanted = words.join(' ');
  const rank = ({ title }: Entry) => {
    const name = title.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    return words.every((word) => name.includes(word)) ? 1 : 2;
  };
  return found.sort((a, b) => rank(a) - rank(b));
}
