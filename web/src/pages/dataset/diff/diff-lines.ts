/** Differing rows as lines of one table: each cell says what it was and what it is. */
import type { ColumnInfo, Diff, DiffRow } from '@/api/data-types';

export type DiffKind = 'added' | 'removed' | 'changed';

export interface DiffCell {
  column: string;
  /** What is shown for a cell that is the same on both sides, or on the only side. */
  value: string | null;
  /** Set where the two sides differ. */
  change: { old: string | null; new: string | null } | null;
  /** The column does not exist on the side of this row. */
  isAbsent: boolean;
}

export interface DiffLine {
  kind: DiffKind;
  row: number | null;
  cells: DiffCell[];
}

/** Columns of both sides: those of the newer one in their order, then those that are gone. */
export function diffColumns(before: ColumnInfo[], after: ColumnInfo[]): string[] {
  const names = after.map(({ name }) => name);
  return [...names, ...before.map(({ name }) => name).filter((name) => !names.includes(name))];
}

/** The columns worth showing when only what changed is asked for: the key and what differs. */
export function changedColumns(diff: Pick<Diff, 'key' | 'changed_cells'>, all: string[]): string[] {
  const wanted = new Set([
    ...diff.key,
    ...Object.entries(diff.changed_cells)
      .filter(([, count]) => count > 0)
      .map(([name]) => name),
  ]);
  return all.filter((name) => wanted.has(name));
}

function sideOf(columns: ColumnInfo[], values: (string | null)[] | null) {
  if (values === null) return null;
  return new Map(columns.map(({ name }, index) => [name, values[index] ?? null]));
}

function cellOf(
  column: string,
  before: Map<string, string | null> | null,
  after: Map<string, string | null> | null,
): DiffCell {
  const old = before?.get(column) ?? null;
  const current = after?.get(column) ?? null;
  const onBoth = before?.has(column) === true && after?.has(column) === true;
  const isAbsent = before?.has(column) !== true && after?.has(column) !== true;
  const change = onBoth && old !== current ? { old, new: current } : null;
  return { column, value: after?.has(column) ? current : old, change, isAbsent };
}

export function diffLine(
  row: DiffRow,
  beforeColumns: ColumnInfo[],
  afterColumns: ColumnInfo[],
  shown: string[],
): DiffLine {
  const before = sideOf(beforeColumns, row.before);
  const after = sideOf(afterColumns, row.after);
  const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
  // Rows are counted from zero there, and from one by people.
  const number = row.row === null ? null : row.row + 1;
  return { kind, row: number, cells: shown.map((column) => cellOf(column, before, after)) };
}
