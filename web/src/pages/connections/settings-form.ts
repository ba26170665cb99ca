/** The form of a kind of connection, made from the JSON Schema of its settings. */
import type { Connection, ConnectionKind, NewConnection } from '@/api/connections';
import { argumentsOf, type Field, fieldsOf, type FormValues } from '@/components/schema-form';

/** Fields that mean nothing beside a choice: a server that is a program has no address. */
const MEANINGLESS: Record<string, Record<string, string[]>> = {
  mcp: { http: ['command', 'args', 'env', 'cwd'], stdio: ['url', 'headers'] },
};

/** Fields of the settings, called as the schema titles them. */
export function settingsFields({ settings_schema }: ConnectionKind): Field[] {
  const properties = (settings_schema.properties ?? {}) as Record<string, { title?: string }>;
  return fieldsOf(settings_schema).map((field) => ({
    ...field,
    label: properties[field.name]?.title ?? field.label,
  }));
}

/** Those that the values so far leave a meaning to. */
export function meaningful(kind: ConnectionKind, fields: Field[], values: FormValues): Field[] {
  const choice = typeof values.transport === 'string' ? values.transport : '';
  const hidden = MEANINGLESS[kind.kind]?.[choice] ?? [];
  return fields.filter(({ name }) => !hidden.includes(name));
}

export interface Written {
  name: string;
  hint: string;
  values: FormValues;
  /** What was typed into fields of secrets; empty ones keep the secret that is there. */
  secrets: Record<string, string>;
}

/** What is sent: typed secrets as values, the others by the names they have. */
export function documentOf(
  kind: ConnectionKind,
  written: Written,
  changed: Connection | null,
): NewConnection {
  const fields = meaningful(kind, settingsFields(kind), written.values);
  const typed = Object.entries(written.secrets).filter(([, value]) => value !== '');
  const given = new Set(typed.map(([name]) => name));
  const kept = Object.entries(changed?.secrets ?? {}).filter(([name]) => !given.has(name));
  return {
    name: written.name.trim(),
    kind: kind.kind,
    settings: argumentsOf(fields, written.values),
    secrets: Object.fromEntries(kept),
    values: Object.fromEntries(typed),
    scope_hint: written.hint.trim(),
  };
}
