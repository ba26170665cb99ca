/** Completes names of datasets and columns, and words of SQL, at the place of the cursor. */
import { t } from '@lingui/core/macro';
import type { QueryType } from '@/api/chat';

interface Suggestion {
  label: string;
  /** What is written; names that need quotes have them. */
  text: string;
  detail: string;
}

export interface Completion {
  /** Where the unfinished word begins. */
  from: number;
  suggestions: Suggestion[];
}

interface Table {
  name: string;
  columns: { name: string; type: string }[];
}

const KEYWORDS = [
  'SELECT', 'FROM', 'WHERE', 'GROUP BY', 'ORDER BY', 'HAVING', 'LIMIT', 'JOIN', 'LEFT JOIN', 'USING',
  'DISTINCT', 'COUNT', 'SUM', 'AVG', 'CASE', 'WHEN', 'THEN', 'ELSE', 'END', 'WITH', 'UNION ALL',
  'QUALIFY', 'OVER', t`PARTITION BY`, t`IS NULL`, 'BETWEEN',
]; // prettier-ignore
const MOST = 8;
const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** A name as SQL takes it. */
export function quoted(name: string, kind: QueryType): string {
  if (kind !== 'sql' || PLAIN.test(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
}

export function complete(
  text: string,
  at: number,
  kind: QueryType,
  tables: Table[],
): Completion | null {
  const word = /(?:([\p{L}\p{N}_]+|"[^"]+")\.)?([\p{L}_][\p{L}\p{N}_]*)?$/u.exec(text.slice(0, at));
  const typed = word?.[2] ?? '';
  const owner = word?.[1]?.replaceAll('"', '');
  if (typed === '' && owner === undefined) return null;
  const of = owner === undefined ? undefined : tableOf(owner, text, tables);
  const pool = of ? columnsOf([of], kind) : everything(kind, tables);
  const start = typed.toLowerCase();
  const suggestions = unique(pool)
    .filter(({ label }) => label.toLowerCase().startsWith(start) && label !== typed)
    .slice(0, MOST);
  return suggestions.length === 0 ? null : { from: at - typed.length, suggestions };
}

/** The dataset by its name, or by the alias that the text gives it. */
function tableOf(owner: string, text: string, tables: Table[]): Table | undefined {
  const named = tables.find(({ name }) => name.toLowerCase() === owner.toLowerCase());
  if (named) return named;
  return tables.find(({ name }) => {
    const source = quoted(name, 'sql').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(String.raw`${source}\s+(?:AS\s+)?${owner}\b`, 'i').test(text);
  });
}

function columnsOf(tables: Table[], kind: QueryType): Suggestion[] {
  return tables.flatMap(({ name: table, columns }) =>
    columns.map(({ name, type }) => ({
      label: name,
      text: quoted(name, kind),
      detail: `${table}, ${type}`,
    })),
  );
}

function everything(kind: QueryType, tables: Table[]): Suggestion[] {
  const names = tables.map(({ name }) => ({
    label: name,
    text: quoted(name, kind),
    detail: 'dataset',
  }));
  const words = kind === 'sql' ? KEYWORDS : [];
  const keywords = words.map((label) => ({ label, text: label, detail: 'SQL' }));
  return [...names, ...columnsOf(tables, kind), ...keywords];
}

function unique(pool: Suggestion[]): Suggestion[] {
  const seen = new Set<string>();
  return pool.filter(({ text }) => !seen.has(text) && seen.add(text));
}
