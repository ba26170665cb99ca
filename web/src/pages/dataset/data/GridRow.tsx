/** One row of the grid: its number and the cells that are on screen. */
import type { ColumnInfo } from '@/api/data-types';
import { CellText } from '@/components/CellText';
import { isNumeric } from '@/components/column-types';
import { useFormats } from '@/components/format';
import classes from './grid.module.css';
import type { CellPlace } from './grid-keys';

interface Props {
  gridId: string;
  number: number;
  /** Unset while it is on its way. */
  row: (string | null)[] | undefined;
  /** The columns on screen, the first of them, and how wide those before it are. */
  columns: ColumnInfo[];
  first: number;
  before: number;
  widths: number[];
  /** The active cell's column, where the row has it. */
  active: number | null;
  onActivate: (place: CellPlace) => void;
  onOpen: (place: CellPlace) => void;
}

export function GridRow(props: Props) {
  const { gridId, number, row, columns, first, before, widths, active } = props;
  const formats = useFormats();
  return (
    <div
      role="row"
      aria-rowindex={number + 2}
      aria-busy={row === undefined}
      className={classes.row}
    >
      <div role="rowheader" aria-colindex={1} className={classes.number}>
        {formats.number(number + 1)}
      </div>
      <div role="presentation" style={{ width: before, flexShrink: 0 }} />
      {columns.map(({ name, type }, step) => {
        const column = first + step;
        return (
          // The grid itself takes the keys and names the active cell.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={name}
            id={`${gridId}-${number}-${column}`}
            role="gridcell"
            aria-colindex={column + 2}
            aria-selected={column === active}
            tabIndex={-1}
            className={classes.cell}
            data-numeric={isNumeric(type)}
            style={{ width: widths[column] }}
            onClick={() => props.onActivate({ row: number, column })}
            onDoubleClick={() => props.onOpen({ row: number, column })}
          >
            {row && <CellText value={row[column] ?? null} />}
          </div>
        );
      })}
    </div>
  );
}
