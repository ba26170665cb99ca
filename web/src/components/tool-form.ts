/** Arguments of tools as fields of a form: what the plain form can show, and the rest as JSON. */
import { t } from '@lingui/core/macro';
import { argumentsOf, type Field, fieldsOf, type FormValues, initialValues } from './schema-form';

/** `plain` fields go to SchemaForm; the others are drawn by ToolForm. */
type Drawn = 'plain' | 'dataset' | 'datasets' | 'long' | 'json' | 'named';

/** What a field names that the project has. */
export type NamedThing = 'connection' | 'secret' | 'agent' | 'skill' | 'tools';

export interface ToolField {
  field: Field;
  drawn: Drawn;
  /** Of a field that is drawn as `named`. */
  names?: NamedThing;
}

interface Schema {
  type?: string;
  $ref?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  prefixItems?: unknown[];
  properties?: unknown;
  additionalProperties?: Schema | boolean;
  maxLength?: number;
  format?: string;
  /** What the argument is for, as the tool declares it. */
  'x-role'?: string;
}

export type JsonSchema = Record<string, unknown>;

const LONG_TEXT = 500;

/** What the project has by this name: a credential by its declared role, a connection, or what the format says. */
function namedBy(name: string, raw: Schema): NamedThing | undefined {
  const choices = (raw.anyOf ?? []).filter(({ type }) => type !== 'null');
  const schema = choices.length === 1 ? { ...raw, ...choices[0] } : raw;
  if (schema.type === 'array') return schema.format === 'tools' ? 'tools' : undefined;
  if (schema.type !== 'string') return undefined;
  if (schema['x-role'] === 'secret') return 'secret';
  if (name === 'connection') return 'connection';
  return schema.format === 'agent' || schema.format === 'skill' ? schema.format : undefined;
}

function drawnAs(name: string, raw: Schema): Drawn {
  const choices = (raw.anyOf ?? []).filter(({ type }) => type !== 'null');
  if (choices.length > 1) return 'json';
  const schema = choices[0] ? { ...raw, ...choices[0] } : raw;
  if (schema.$ref !== undefined || schema.oneOf) return 'json';
  if (schema.enum) return 'plain';
  switch (schema.type) {
    case 'object':
      return isTextMap(schema) ? 'plain' : 'json';
    case 'array':
      if (schema.items?.enum) return 'plain';
      if (schema.items?.type === 'string') {
        return name === 'datasets' || schema.items.format === 'dataset' ? 'datasets' : 'plain';
      }
      return schema.items?.prefixItems ? 'plain' : 'json';
    case 'string':
      if (name === 'dataset' || schema.format === 'dataset') return 'dataset';
      if (schema.format === 'multiline') return 'plain';
      return (schema.maxLength ?? 0) > LONG_TEXT ? 'long' : 'plain';
    case 'number':
    case 'integer':
    case 'boolean':
      return 'plain';
    default:
      return 'json';
  }
}

function isTextMap({ additionalProperties, properties }: Schema): boolean {
  return (
    properties === undefined &&
    typeof additionalProperties === 'object' &&
    additionalProperties.type === 'string'
  );
}

/** The fields of a tool; without known columns, names of columns are typed. */
export function toolFieldsOf(schema: JsonSchema, hasColumns: boolean): ToolField[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  return fieldsOf(schema).map((field) => {
    const property = properties[field.name] ?? {};
    const names = namedBy(field.name, property);
    if (names !== undefined) return { field, drawn: 'named', names };
    const drawn = drawnAs(field.name, property);
    return { drawn, field: drawn === 'plain' ? plain(field, property, hasColumns) : field };
  });
}

function plain(field: Field, property: Schema, hasColumns: boolean): Field {
  // Only operations on datasets have a field that names a type of columns.
  if (field.kind === 'type') return { ...field, kind: 'text' };
  if (hasColumns) return field;
  if (field.kind === 'columns') return { ...field, kind: 'texts' };
  return field.kind === 'column' && !property.enum ? { ...field, kind: 'text' } : field;
}

const isText = ({ drawn }: ToolField) =>
  drawn === 'long' || drawn === 'dataset' || drawn === 'json';

export function toolValues(fields: ToolField[], given: JsonSchema = {}): FormValues {
  const values = initialValues(
    fields.filter((item) => !isText(item)).map(({ field }) => field),
    given,
  );
  for (const item of fields.filter(isText)) {
    const { name } = item.field;
    const value = given[name];
    if (item.drawn === 'json') {
      values[name] = value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
    } else values[name] = typeof value === 'string' ? value : '';
  }
  return values;
}

export type Filled =
  { arguments: Record<string, unknown>; problems: null } | { problems: Record<string, string> };

/** What is sent, or what is wrong by field. */
export function toolArguments(fields: ToolField[], values: FormValues): Filled {
  const problems: Record<string, string> = {};
  const others = fields.filter(({ drawn }) => drawn !== 'json').map(({ field }) => field);
  const sent = argumentsOf(others, values);
  for (const { field, drawn } of fields) {
    const text = values[field.name];
    if (drawn === 'json' && typeof text === 'string' && text.trim() !== '') {
      try {
        sent[field.name] = JSON.parse(text) as unknown;
      } catch (error) {
        problems[field.name] = t`This is not JSON yet: ${(error as Error).message}`;
      }
    }
    // An empty text may be meant where the schema asks for a text that may be empty.
    if (field.required && !(field.name in sent) && !(field.name in problems)) {
      problems[field.name] = t`This is needed.`;
    }
  }
  return Object.keys(problems).length > 0 ? { problems } : { arguments: sent, problems: null };
}

/** A schema that is not an object becomes the only field of one; `answerOf` takes it out again. */
export function asForm(schema: JsonSchema): { schema: JsonSchema; isWrapped: boolean } {
  if (schema.type === 'object' && schema.properties !== undefined) {
    return { schema, isWrapped: false };
  }
  const wrapped = { type: 'object', properties: { answer: schema }, required: ['answer'] };
  return { schema: wrapped, isWrapped: true };
}
