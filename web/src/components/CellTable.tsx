/** Rows of cells under the names of their columns, in a box that scrolls. */
import { CellText } from './CellText';
import classes from './CellTable.module.css';

interface Props {
  label: string;
  columns: string[];
  rows: (string | null)[][];
}

export function CellTable({ label, columns, rows }: Props) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((value, index) => (
                <td key={index}>
                  <CellText value={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
