/** The first rows of a file, exactly as they are: spaces and missing values included. */
import type { FilePreview } from '@/api/types';
import classes from './files.module.css';

export function PreviewTable({ label, preview }: { label: string; preview: FilePreview }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={`Rows of ${label}`} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col" className={classes.rowNumber}>
              #
            </th>
            {preview.columns.map((column, index) => (
              <th scope="col" key={index}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {preview.rows.map((row, number) => (
            <tr key={number}>
              <th scope="row" className={classes.rowNumber}>
                {number + 1}
              </th>
              {row.map((value, index) => (
                <td key={index} title={value}>
                  {value === '' ? <span className={classes.missing}>missing</span> : value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
