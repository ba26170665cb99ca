/** Which column of a dataset most likely is the one that is needed. */

/** The part of the address that says for which dataset another one is being chosen. */
export const OTHER_DATA = 'data';

const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{Letter}\p{Number}]/gu, '');

/** The column that is called so, or nearly so; null where none is. */
export function likelyColumn(needed: string, columns: string[]): string | null {
  const wanted = plain(needed);
  return (
    columns.find((column) => column === needed) ??
    columns.find((column) => plain(column) === wanted) ??
    columns.find((column) => plain(column).includes(wanted) || wanted.includes(plain(column))) ??
    null
  );
}

/** A column for each that is needed, none of them twice. */
export function likelyColumns(needed: string[], columns: string[]): Record<string, string | null> {
  const free = new Set(columns);
  const found: Record<string, string | null> = {};
  for (const name of needed) {
    const column = likelyColumn(name, [...free]);
    found[name] = column;
    if (column !== null) free.delete(column);
  }
  return found;
}
