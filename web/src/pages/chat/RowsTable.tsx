/** Rows of a result: numbers stand by their ends, days have no hours. */
import { CellText } from '@/components/CellText';
import type { ValueTable } from '@/components/value-table';
import classes from './chat.module.css';

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const DAY = /^\d{4}-\d{2}-\d{2}T00:00:00(\.0+)?$/;

type Look = 'number' | 'day' | 'text';

/** What all values of a column look like. */
export function looksOf({ columns, rows }: ValueTable): Look[] {
  return columns.map((_, index) => {
    const values = rows.flatMap((row) => row[index] ?? []);
    if (values.length === 0) return 'text';
    if (values.every((value) => NUMBER.test(value))) return 'number';
    return values.every((value) => DAY.test(value)) ? 'day' : 'text';
  });
}

export function RowsTable({ label, table }: { label: string; table: ValueTable }) {
  const looks = looksOf(table);
  const isNumeric = (index: number) => looks[index] === 'number';
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.table} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.columns.map((name, index) => (
              <th key={index} scope="col" data-numeric={isNumeric(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, number) => (
            <tr key={number}>
              {row.map((value, index) => (
                <td key={index} data-numeric={isNumeric(index)}>
                  <CellText
                    value={looks[index] === 'day' ? (value?.slice(0, 10) ?? null) : value}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
