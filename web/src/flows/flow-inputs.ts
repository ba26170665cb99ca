/** What a flow asks for when it starts: fields of its form, read from and written to its JSON Schema. */
import { removeValue, setValue, valueAt } from './document';

export type InputKind = 'text' | 'number' | 'whole' | 'switch' | 'date' | 'choice' | 'list';

export interface FlowInput {
  name: string;
  /** Null for what only YAML can say. */
  kind: InputKind | null;
  title: string;
  required: boolean;
  choices: readonly string[];
}

type Fields = Record<string, unknown>;

const SCHEMAS: Record<InputKind, Fields> = {
  text: { type: 'string' },
  number: { type: 'number' },
  whole: { type: 'integer' },
  switch: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  choice: { type: 'string', enum: [] },
  list: { type: 'array', items: { type: 'string' } },
};
/** What may stand beside the kind without making it another one. */
const ASIDE = new Set(['title', 'description', 'default']);
/** Expressions read them as `inputs.name`. */
const NAME = /^[a-z_][a-z0-9_]*$/i;

export function inputsOf(document: unknown): FlowInput[] {
  const properties = valueAt(document, ['inputs', 'properties']);
  const required = valueAt(document, ['inputs', 'required']);
  return Object.entries((properties ?? {}) as Record<string, Fields>).map(([name, schema]) => ({
    name,
    kind: kindOf(schema),
    title: typeof schema.title === 'string' ? schema.title : '',
    required: Array.isArray(required) && required.includes(name),
    choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
  }));
}

export function isFreeName(name: string, inputs: readonly FlowInput[]): boolean {
  return NAME.test(name) && inputs.every((each) => each.name !== name);
}

export function addInput(text: string, document: unknown, name: string): string {
  const next = setValue(text, ['inputs', 'properties', name], SCHEMAS.text);
  return valueAt(document, ['inputs', 'type']) === undefined
    ? setValue(next, ['inputs', 'type'], 'object')
    : next;
}

export function changeInput(text: string, before: FlowInput, after: FlowInput): string {
  const path = ['inputs', 'properties', before.name];
  let next = text;
  if (after.kind !== null && after.kind !== before.kind) {
    const schema = { ...SCHEMAS[after.kind], ...(after.title && { title: after.title }) };
    return setValue(next, path, schema);
  }
  if (after.title !== before.title)
    next =
      after.title === ''
        ? removeValue(next, [...path, 'title'])
        : setValue(next, [...path, 'title'], after.title);
  if (after.choices !== before.choices) next = setValue(next, [...path, 'enum'], after.choices);
  return next;
}

export function requireInput(text: string, document: unknown, name: string, is: boolean): string {
  const found = valueAt(document, ['inputs', 'required']);
  const others = (Array.isArray(found) ? found : []).filter((each) => each !== name) as string[];
  const next = is ? [...others, name] : others;
  return next.length === 0
    ? removeValue(text, ['inputs', 'required'])
    : setValue(text, ['inputs', 'required'], next);
}

export function removeInput(text: string, document: unknown, name: string): string {
  const isRequired = inputsOf(document).some((each) => each.name === name && each.required);
  const next = isRequired ? requireInput(text, document, name, false) : text;
  return removeValue(next, ['inputs', 'properties', name]);
}

function kindOf(schema: Fields): InputKind | null {
  const own = Object.fromEntries(Object.entries(schema).filter(([name]) => !ASIDE.has(name)));
  if (own.type === 'string' && Array.isArray(own.enum) && Object.keys(own).length === 2)
    return 'choice';
  const kinds = Object.keys(SCHEMAS) as InputKind[];
  const same = (kind: InputKind) =>
    JSON.stringify(sorted(SCHEMAS[kind])) === JSON.stringify(sorted(own));
  return kinds.find(same) ?? null;
}

function sorted(fields: Fields): [string, unknown][] {
  return Object.entries(fields).sort(([left], [right]) => left.localeCompare(right));
}
