/** What can be changed in a fork: the inputs of the run, and the settings of the step that it begins with. */
import { t } from '@lingui/core/macro';
import type { RunDetail } from '@/api/run-types';

export interface ForkField {
  pointer: string;
  label: string;
  value: unknown;
}

type Values = Record<string, unknown>;
const FIXED = new Set(['id', 'type', 'needs', 'title', 'nodes']);
const MOST_FIELDS = 60;

/** Values with their JSON pointers; inputs first. `at` is the key of a step, as journals have it. */
export function forkFields(run: Pick<RunDetail, 'inputs' | 'document'>, at: string | null) {
  const found: ForkField[] = [];
  collect(run.inputs, '/inputs', t`Input`, found);
  const [node, pointer] = nodeAt(run.document, at);
  for (const [name, value] of Object.entries(node)) {
    if (!FIXED.has(name)) collect(value, `${pointer}/${escaped(name)}`, name, found);
  }
  return found.slice(0, MOST_FIELDS);
}

/** The value that was typed for a field: text as it is, anything else as JSON. */
export function typedValue(field: ForkField, text: string): { value: unknown } | { error: string } {
  if (typeof field.value === 'string') return { value: text };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { error: t`Enter a value such as ${JSON.stringify(field.value)}.` };
  }
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function collect(value: unknown, pointer: string, label: string, found: ForkField[]) {
  if (isValues(value) && Object.keys(value).length > 0) {
    for (const [name, each] of Object.entries(value))
      collect(each, `${pointer}/${escaped(name)}`, `${label} › ${name}`, found);
  } else if (value !== undefined && value !== null && !(isValues(value) && label === 'Input')) {
    found.push({ pointer, label, value });
  }
}

/** The innermost node of the document that the key names, with its pointer. */
function nodeAt(document: unknown, at: string | null): [Values, string] {
  let found: [Values, string] = [{}, ''];
  let inside: [unknown, string] = [document, '/document'];
  for (const part of (at ?? '').split('/')) {
    const id = part.split(':')[0]?.replace(/(\[\d+\]|#\d+|~\d+)+$/, '');
    const next = childNode(inside[0], inside[1], id ?? '');
    if (next === null) return found;
    found = next;
    inside = next;
  }
  return found;
}

function childNode(value: unknown, pointer: string, id: string): [Values, string] | null {
  if (!isValues(value)) return null;
  const nodes = value.nodes;
  if (Array.isArray(nodes)) {
    const index = nodes.findIndex((node) => isValues(node) && node.id === id);
    if (index >= 0) return [nodes[index] as Values, `${pointer}/nodes/${index}`];
  }
  for (const [name, each] of Object.entries(value)) {
    const below = childNode(each, `${pointer}/${escaped(name)}`, id);
    if (below !== null) return below;
  }
  return null;
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escaped(name: string): string {
  return name.replace(/~/g, '~0').replace(/\//g, '~1');
}
