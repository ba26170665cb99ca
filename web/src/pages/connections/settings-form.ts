/** The form of a kind of connection, made from the JSON Schema of its settings. */
import type { Connection, ConnectionKind, NewConnection } from '@/api/connections';
import { argumentsOf, type Field, fieldsOf, type FormValues } from '@/components/schema-form';

const OF_CLIENTS = ['client_id', 'issuer', 'scopes', 'client_authentication'];
/** Fields that mean nothing beside a choice: a server that is a program has no address. */
const MEANINGLESS: Record<string, Record<string, string[]>> = {
  transport: {
    http: ['command', 'args', 'env', 'cwd'],
    stdio: ['url', 'headers', 'sign_in', ...OF_CLIENTS],
  },
  sign_in: { none: OF_CLIENTS },
};
/** Secrets that a kind has no use for beside a choice. */
const USELESS: Record<string, string[]> = {
  none: ['client_secret'],
  person: ['token'],
  client: ['token'],
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
  if (!chosen(values, 'tls').startsWith('verify')) {
    fields = fields.filter(({ name }) => name !== 'root_certificate');
  }
  if (kind.kind !== 'mcp') return fields;
  const hidden = Object.entries(MEANINGLESS).flatMap(
    ([choice, fieldsOf]) => fieldsOf[chosen(values, choice)] ?? [],
  );
  return fields.filter(({ name }) => !hidden.includes(name));
}

/** The secrets that the values so far leave a use for. */
export function usefulSecrets(kind: ConnectionKind, values: FormValues): ConnectionKind['secrets'] {
  if (kind.kind !== 'mcp') return kind.secrets;
  const useless =
    chosen(values, 'transport') === 'stdio'
      ? ['token', 'client_secret']
      : (USELESS[chosen(values, 'sign_in')] ?? []);
  return kind.secrets.filter(({ name }) => !useless.includes(name));
}

function chosen(values: FormValues, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value : '';
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
