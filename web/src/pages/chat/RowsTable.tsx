/** Rows of a result: numbers stand by their ends, and numbers and dates are written as the reader writes them. */
import { useMemo } from 'react';
import { CellText } from '@/components/CellText';
import { useFormats } from '@/components/format';
import type { ValueTable } from '@/components/value-table';
import { writtenTable } from './cells';
import classes from './chat.module.css';

export function RowsTable({ label, table }: { label: string; table: ValueTable }) {
  const formats = useFormats();
  const { columns, rows } = useMemo(() => writtenTable(table, formats), [table, formats]);
  const isNumeric = (index: number) => columns[index]?.look === 'number';
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.table} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name }, index) => (
              <th key={index} scope="col" data-numeric={isNumeric(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((written, index) => (
                <td key={index} data-numeric={isNumeric(index)}>
                  <CellText value={written} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
