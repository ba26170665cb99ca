/** Moving through a grid by keyboard. */

export interface CellPlace {
  row: number;
  column: number;
}

interface Extent {
  rows: number;
  columns: number;
  /** Rows that fit on the screen. */
  page: number;
}

/** Where a key leads; null when it is no key of the grid. */
export function moveByKey(
  { key, ctrl }: { key: string; ctrl: boolean },
  { row, column }: CellPlace,
  { rows, columns, page }: Extent,
): CellPlace | null {
  const lastRow = Math.max(0, rows - 1);
  const lastColumn = Math.max(0, columns - 1);
  const targets: Record<string, CellPlace> = {
    ArrowDown: { row: ctrl ? lastRow : row + 1, column },
    ArrowUp: { row: ctrl ? 0 : row - 1, column },
    ArrowRight: { row, column: ctrl ? lastColumn : column + 1 },
    ArrowLeft: { row, column: ctrl ? 0 : column - 1 },
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: ctrl ? 0 : row, column: 0 },
    End: { row: ctrl ? lastRow : row, column: lastColumn },
  };
  const target = targets[key];
  if (!target) return null;
  return {
    row: Math.min(Math.max(0, target.row), lastRow),
    column: Math.min(Math.max(0, target.column), lastColumn),
  };
}
