/** Filters and sorting of rows: their words, and how they are written in the address. */
import { t } from '@lingui/core/macro';
import type { FilterOperator, RowFilter } from '@/api/data-types';

export const OPERATORS: { value: FilterOperator; label: string }[] = [
  { value: 'contains', label: t`contains` },
  { value: 'starts', label: t`begins with` },
  { value: 'eq', label: t`is` },
  { value: 'ne', label: t`is not` },
  { value: 'lt', label: t`is less than` },
  { value: 'le', label: t`is at most` },
  { value: 'gt', label: t`is more than` },
  { value: 'ge', label: t`is at least` },
  { value: 'empty', label: t`is empty` },
  { value: 'filled', label: t`is not empty` },
];

const KNOWN = new Set<string>(OPERATORS.map(({ value }) => value));

export function takesValue(operator: FilterOperator): boolean {
  return operator !== 'empty' && operator !== 'filled';
}

export function describeFilter({ column, operator, value }: RowFilter): string {
  const words = OPERATORS.find((known) => known.value === operator)?.label ?? operator;
  return takesValue(operator) ? `${column} ${words} “${value}”` : `${column} ${words}`;
}

/** Reads filters from the address; what is not one is left out, for an address can be mistyped. */
export function parseFilters(text: string | null, columns: readonly string[]): RowFilter[] {
  if (text === null) return [];
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { column, operator, value } = entry as Record<string, unknown>;
    if (typeof column !== 'string' || !columns.includes(column)) return [];
    if (typeof operator !== 'string' || !KNOWN.has(operator)) return [];
    return [
      {
        column,
        operator: operator as FilterOperator,
        value: typeof value === 'string' ? value : '',
      },
    ];
  });
}

export function writeFilters(filters: readonly RowFilter[]): string | null {
  return filters.length === 0 ? null : JSON.stringify(filters);
}

/** Each column has one filter; a new one replaces it. */
export function withFilter(filters: readonly RowFilter[], added: RowFilter): RowFilter[] {
  return [...filters.filter(({ column }) => column !== added.column), added];
}

export type Direction = 'ascending' | 'descending' | 'none';

/** The sorting of the address: a column's name, after a minus sign for the highest first. */
export function directionOf(sort: string | null, column: string): Direction {
  if (sort === column) return 'ascending';
  return sort === `-${column}` ? 'descending' : 'none';
}

/** A click on a header: ascending, descending, as stored. */
export function nextSort(sort: string | null, column: string): string | null {
  const next = { none: column, ascending: `-${column}`, descending: null };
  return next[directionOf(sort, column)];
}

/** Only a known column is sorted by. */
export function parseSort(sort: string | null, columns: readonly string[]): string[] {
  if (sort === null) return [];
  const isKnown = columns.includes(sort) || columns.includes(sort.replace(/^-/, ''));
  return isKnown ? [sort] : [];
}
