/** Reading rows of golden records by the names of their columns. */
import { t } from '@lingui/core/macro';
import type { RowPage } from '@/api/data-types';

type Row = readonly (string | null)[];
type Named = Pick<RowPage, 'columns'>;

export function cellOf({ columns }: Named, row: Row, name: string): string | null {
  return row[columns.findIndex((column) => column.name === name)] ?? null;
}

const NOT_TELLING = /^(entity_id|records|rows_from_.*)$/;
const TELLING = ['company', 'person_name', 'given_name', 'family_name', 'name', 'title'];
const VALUES_SHOWN = 3;

/** A few values that tell which entity it is: names first, then whatever comes first. */
export function titleOf(page: Named, row: Row): string {
  const names = page.columns.map(({ name }) => name).filter((name) => !NOT_TELLING.test(name));
  const ordered = [
    ...TELLING.filter((name) => names.includes(name)),
    ...names.filter((name) => !TELLING.includes(name)),
  ];
  const values = ordered.map((name) => cellOf(page, row, name)).filter((value) => value !== null);
  return [...new Set(values)].slice(0, VALUES_SHOWN).join(' · ') || t`Without any value`;
}
