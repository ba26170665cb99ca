/** Finds out whether a value is a table, whatever way it says so. */

export interface ValueTable {
  columns: string[];
  rows: (string | null)[][];
  /** Types of the columns, where the value names them. */
  types?: string[];
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(column: unknown): string {
  if (isRecord(column) && typeof column.name === 'string') return column.name;
  return String(column);
}

function typeOf(column: unknown): string {
  return isRecord(column) && typeof column.type === 'string' ? column.type : '';
}

/** `{columns, rows}` with rows as lists or records, or a list of records that share their fields. */
export function tableOf(value: unknown): ValueTable | null {
  if (isRecord(value) && Array.isArray(value.columns) && Array.isArray(value.rows)) {
    const columns = value.columns.map(nameOf);
    const rows = value.rows.map((row: unknown) => cellsOf(row, columns));
    const types = value.columns.map(typeOf);
    const known = types.some((type) => type !== '') ? { types } : {};
    return rows.every((row) => row !== null) ? { columns, rows, ...known } : null;
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null;
  const columns = Object.keys(value[0] ?? {});
  const isFlat = value.every(
    (item) =>
      Object.keys(item).length <= columns.length + 2 &&
      Object.values(item).every((cell) => typeof cell !== 'object' || cell === null),
  );
  if (columns.length === 0 || !isFlat) return null;
  return { columns, rows: value.map((item) => columns.map((name) => textOf(item[name]))) };
}

function cellsOf(row: unknown, columns: string[]): (string | null)[] | null {
  if (Array.isArray(row)) return row.map(textOf);
  return isRecord(row) ? columns.map((name) => textOf(row[name])) : null;
}
