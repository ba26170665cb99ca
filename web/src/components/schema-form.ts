/** The part of JSON Schema that operations use, as fields of a form, and the form's values as arguments. */

type FieldKind =
  | 'text'
  /** A text of several lines: `format: multiline` in the schema. */
  | 'lines'
  | 'number'
  | 'switch'
  | 'choice'
  | 'texts'
  | 'column'
  | 'columns'
  | 'type'
  /** An object of any keys. */
  | 'map'
  /** A list of pairs. */
  | 'pairs';

export interface Field {
  name: string;
  label: string;
  description: string;
  kind: FieldKind;
  required: boolean;
  initial: FieldValue;
  choices: string[];
  minimum?: number;
  maximum?: number;
}

export type FieldValue = string | number | boolean | string[] | [string, string][];
export type FormValues = Record<string, FieldValue>;

interface Schema {
  type?: string;
  format?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  items?: Schema;
  prefixItems?: unknown[];
  additionalProperties?: Schema | boolean;
  default?: unknown;
  title?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
}

const COLUMN_NAMES = /^(column|order_by|.*_column)$/;

/** A field that may be null is the field itself, left empty. */
function unwrapped(schema: Schema): Schema {
  const inner = schema.anyOf?.find(({ type }) => type !== 'null');
  return inner ? { ...schema, ...inner } : schema;
}

function kindOf(name: string, schema: Schema): FieldKind {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'switch';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  if (schema.type === 'array') {
    if (schema.items?.prefixItems) return 'pairs';
    return name === 'columns' ? 'columns' : 'texts';
  }
  if (schema.type === 'object') return 'map';
  if (schema.format === 'multiline') return 'lines';
  if (name === 'type') return 'type';
  return COLUMN_NAMES.test(name) ? 'column' : 'text';
}

function initialOf(kind: FieldKind, value: unknown): FieldValue {
  if (kind === 'switch') return value === true;
  if (kind === 'texts' || kind === 'columns') return Array.isArray(value) ? value.map(String) : [];
  if (kind === 'map' || kind === 'pairs') return [['', '']];
  if (kind === 'number') return typeof value === 'number' ? value : '';
  return typeof value === 'string' ? value : '';
}

const LONGEST_LABEL = 60;

/** The title of the schema; without one, or where it only repeats the name, `two_digit_years` reads as "Two digit years". */
function labelOf(name: string, title: unknown): string {
  const words = name.replaceAll('_', ' ');
  const told = plainTitle(title);
  if (told !== '' && told.toLowerCase() !== words.toLowerCase()) return told;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A title can come from a stranger's description: one short line of visible characters. */
function plainTitle(title: unknown): string {
  if (typeof title !== 'string') return '';
  const line = title.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  const characters = Array.from(line);
  return characters.length > LONGEST_LABEL
    ? `${characters.slice(0, LONGEST_LABEL - 1).join('')}…`
    : line;
}

function fieldOf(name: string, raw: Schema, required: boolean): Field {
  const schema = unwrapped(raw);
  const kind = kindOf(name, schema);
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};
  const choices = schema.enum ?? schema.items?.enum ?? values.enum ?? [];
  return {
    name,
    label: labelOf(name, raw.title),
    description: schema.description ?? '',
    kind,
    required,
    initial: initialOf(kind, schema.default),
    choices: choices.map(String),
    ...(schema.minimum === undefined ? {} : { minimum: schema.minimum }),
    ...(schema.maximum === undefined ? {} : { maximum: schema.maximum }),
  };
}

export function fieldsOf(schema: Record<string, unknown>): Field[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = new Set((schema.required ?? []) as string[]);
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, property, required.has(name)),
  );
  // Fields that are called alike could not be told apart.
  const alike = (label: string) => fields.filter((field) => field.label === label).length > 1;
  return fields.map((field) =>
    alike(field.label) ? { ...field, label: labelOf(field.name, '') } : field,
  );
}

/** Initial values, with those that are given for fields that exist. */
export function initialValues(fields: Field[], given: Record<string, unknown> = {}): FormValues {
  const values: FormValues = {};
  for (const { name, kind, initial } of fields) {
    const value = given[name];
    if (value === undefined || value === null) values[name] = initial;
    else if (kind === 'columns' && typeof value === 'string') values[name] = [value];
    else if (kind === 'map' && typeof value === 'object') {
      values[name] = Object.entries(value).map(([key, item]): [string, string] => [
        key,
        String(item),
      ]);
    } else values[name] = value as FieldValue;
  }
  return values;
}

function isBlank(value: FieldValue | undefined): boolean {
  if (value === undefined || value === '') return true;
  if (!Array.isArray(value)) return false;
  return value.every((item) => (Array.isArray(item) ? item[0] === '' : item === ''));
}

/** The names of required fields that are still empty. */
export function missingFields(fields: Field[], values: FormValues): string[] {
  return fields
    .filter(({ name, required }) => required && isBlank(values[name]))
    .map(({ name }) => name);
}

/** What is sent: empty fields are left out, so that the operation's own defaults hold. */
export function argumentsOf(fields: Field[], values: FormValues): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const { name, kind, initial } of fields) {
    const value = values[name];
    // A default that is an empty text was chosen by the operation; one that was cleared is meant.
    if (isBlank(value) && isBlank(initial)) continue;
    if (kind === 'map' || kind === 'pairs') {
      const pairs = (value as [string, string][]).filter(([key]) => key !== '');
      sent[name] = kind === 'map' ? Object.fromEntries(pairs) : pairs;
    } else if (!(kind === 'number' && value === '')) {
      sent[name] = value;
    }
  }
  return sent;
}
