/** Values by name beside a query: `$name` in SQL, `parameters["name"]` in Python. */
import { t } from '@lingui/core/macro';
import type { QueryType } from '@/api/chat';
import type { FlowNode, RunDetail } from '@/api/run-types';

export type Scalar = string | number | boolean | null;
export type Parameters = Record<string, Scalar>;

/** A parameter as it is written: a value is a number or a word such as `true` where it reads as one. */
export interface Row {
  name: string;
  value: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
// Texts, quoted names, comments and dollar quotes are passed over: what looks like a name in them is none.
const IN_SQL =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|\$(?<name>[A-Za-z_]\w*)/g;
const IN_PYTHON = /\bparameters(?:\.get\(|\[)\s*(['"])(?<name>[A-Za-z_]\w*)\1/g;

/** The names that a query asks for, in the order in which it does. */
export function namesIn(kind: QueryType, query: string): string[] {
  if (kind === 'plan') return [];
  const found = query.matchAll(kind === 'sql' ? IN_SQL : IN_PYTHON);
  return [...new Set([...found].flatMap(({ groups }) => groups?.name ?? []))];
}

/** A row as it is shown: a name that the query asks for is not changed here. */
export interface ShownRow extends Row {
  isAsked: boolean;
}

/** A row for each name that the query asks for, then what was written besides. */
export function rowsFor(kind: QueryType, query: string, written: Row[]): ShownRow[] {
  const names = namesIn(kind, query);
  const asked = names.map(
    (name) => written.find((row) => row.name === name) ?? { name, value: '' },
  );
  const further = written.filter(({ name }) => !names.includes(name));
  return [
    ...asked.map((row) => ({ ...row, isAsked: true })),
    ...further.map((row) => ({ ...row, isAsked: false })),
  ];
}

/** What is worth keeping: an empty row comes back for as long as the query asks for it. */
export function kept(rows: ShownRow[]): Row[] {
  const filled = rows.filter(({ value, isAsked }) => value !== '' || !isAsked);
  return filled.map(({ name, value }) => ({ name, value }));
}

export function nameProblem(name: string, rows: Row[]): string | null {
  if (name === '') return null;
  if (!NAME.test(name)) return t`Letters, digits and _ only, and no digit first.`;
  return rows.filter((row) => row.name === name).length > 1 ? t`This name is there twice.` : null;
}

/** The value that a text means: JSON where it is a scalar, else the text itself. */
export function valueOf(text: string): Scalar {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'string' || typeof read === 'boolean' || read === null) return read;
    // A whole number that JavaScript would round stays as it is written; the engine reads it.
    if (typeof read === 'number' && !isRounded(read)) return read;
  } catch {
    // It is no JSON: a text without quotes.
  }
  return text;
}

const isRounded = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

/** What is sent; a row without a value gives none. */
export function given(rows: Row[]): Parameters {
  const named = rows.filter(({ name, value }) => name !== '' && value.trim() !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name, valueOf(value.trim())]));
}

/** Values as one would write them: what would be read as something else has quotes. */
export function rowsOf(parameters: Parameters): Row[] {
  return Object.entries(parameters).map(([name, value]) => {
    const isPlain = typeof value === 'string' && value.trim() !== '' && valueOf(value) === value;
    const isTrimmed = isPlain && value.trim() === value;
    return { name, value: isTrimmed ? value : JSON.stringify(value) };
  });
}

type Called = FlowNode & { arguments?: { parameters?: Parameters } };

/** The values that a run was given; texts without the escapes that keep flows from reading them. */
export function parametersOf({ document }: Pick<RunDetail, 'document'>): Parameters {
  const [node] = (document?.nodes ?? []) as Called[];
  const values = Object.entries(node?.arguments?.parameters ?? {});
  return Object.fromEntries(
    values.map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll('$${', () => '${') : value,
    ]),
  );
}
