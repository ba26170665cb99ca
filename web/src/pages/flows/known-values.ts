/** What expressions can read, with the types and samples of the last run: inputs, outputs of earlier steps, items. */
import { t } from '@lingui/core/macro';
import type { NodeStanding } from '@/api/runs';
import type { ExpressionRules } from '@/flows/expressions/tree';
import { type FlowGraph, type FlowNode, nodesBefore, nodeTitle } from '@/flows/graph';

export interface KnownValue {
  /** As an expression names it: `nodes.load.output.rows`. */
  name: string;
  /** "text", "list of 12"; empty while nothing is known. */
  type: string;
  /** A short value, as it was last. */
  sample: string;
}

export interface ValueSource {
  title: string;
  values: KnownValue[];
}

const DEEPEST = 4;
const MOST = 40;
const PLAIN = /^[A-Za-z_]\w*$/;

export function knownValues(
  document: unknown,
  graph: FlowGraph,
  node: FlowNode,
  standings: ReadonlyMap<string, NodeStanding>,
): ValueSource[] {
  const { inputs } = (document ?? {}) as {
    inputs?: { properties?: Record<string, { type?: string; default?: unknown }> };
  };
  const given = Object.entries(inputs?.properties ?? {}).map(([name, schema]) => ({
    name: `inputs${member(name)}`,
    type: schema.type ?? '',
    sample: schema.default === undefined ? '' : shortText(schema.default),
  }));
  const before = nodesBefore(graph, node.key).map((each): ValueSource => {
    const standing = standings.get(each.key);
    const name = `nodes.${each.id}.output`;
    const isKnown = standing !== undefined && standing.sample !== null;
    const values = isKnown
      ? partsOf(name, standing.sample, standing.size)
      : [{ name, type: '', sample: '' }];
    return { title: nodeTitle(each), values };
  });
  const inside = node.key.includes('/')
    ? [
        {
          title: t`Around it`,
          values: ['item', 'index', 'last'].map((name) => ({ name, type: '', sample: '' })),
        },
      ]
    : [];
  const run = { title: t`Run`, values: [{ name: 'run.id', type: 'text', sample: '' }] };
  const start = given.length > 0 ? [{ title: t`Inputs`, values: given }] : [];
  return [...start, ...before.reverse(), ...inside, run];
}

/** The functions that an expression can call, with what they take and give. */
export function functionNames({ signatures, words }: ExpressionRules): KnownValue[] {
  const word = (kind = '') => words[kind] ?? t`any value`;
  const joined = (all: string[]) => [...new Set(all)].join(t` or `);
  return Object.entries(signatures)
    .filter(([name]) => /^[A-Za-z]+$/.test(name))
    .map(([name, overloads]) => {
      const takes = joined(overloads.map((each) => each.slice(0, -1).map(word).join(', ')));
      const gives = joined(overloads.map((each) => word(each.at(-1))));
      return { name: `${name}()`, type: `${takes} → ${gives}`, sample: '' };
    });
}

/** A value and the parts of it that have names, the outermost first. */
export function partsOf(name: string, value: unknown, size: number | null = null): KnownValue[] {
  const found: KnownValue[] = [];
  const open: { name: string; value: unknown; depth: number }[] = [{ name, value, depth: 0 }];
  for (let next = open.shift(); next && found.length < MOST; next = open.shift()) {
    const isWhole = next.depth === 0 || next.name === `${name}.rows`;
    found.push({
      name: next.name,
      type: typeOf(next.value, isWhole ? size : null),
      sample: shortText(next.value),
    });
    if (next.depth >= DEEPEST) continue;
    const { name: outer, value: whole, depth } = next;
    if (Array.isArray(whole)) {
      if (whole.length > 0) open.push({ name: `${outer}[0]`, value: whole[0], depth: depth + 1 });
    } else if (typeof whole === 'object' && whole !== null) {
      for (const [key, part] of Object.entries(whole))
        open.push({ name: `${outer}${member(key)}`, value: part, depth: depth + 1 });
    }
  }
  return found;
}

const member = (name: string) => (PLAIN.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

function typeOf(value: unknown, size: number | null): string {
  if (value === null || value === undefined) return t`empty`;
  // A sample has the first items only.
  if (Array.isArray(value)) return size === null ? t`list` : t`list of ${size}`;
  switch (typeof value) {
    case 'number':
      return t`number`;
    case 'boolean':
      return t`yes or no`;
    case 'string':
      return t`text`;
    default:
      return t`object`;
  }
}

const LONGEST = 60;

function shortText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '';
  const text = String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
