/** A table of any length: only what is on screen is fetched and drawn. */
import { t } from '@lingui/core/macro';
import { type KeyboardEvent, useId, useMemo, useRef, useState } from 'react';
import type { ColumnInfo, RowFilter } from '@/api/data-types';
import { ErrorState } from '@/components/ErrorState';
import { ColumnHeader } from './ColumnHeader';
import { CellView } from './CellView';
import { directionOf } from './filters';
import { GridRow } from './GridRow';
import classes from './grid.module.css';
import { type CellPlace, moveByKey } from './grid-keys';
import {
  blocksOf,
  columnWidth,
  columnWindow,
  contentHeight,
  NUMBER_WIDTH,
  ROW_HEIGHT,
  rowWindow,
} from './grid-window';
import { type RowSource, useRows } from './use-rows';
import { useViewport } from './use-viewport';

interface Props {
  source: RowSource;
  columns: ColumnInfo[];
  total: number;
  /** The first rows, from which the widths of the columns follow. */
  sample: (string | null)[][];
  sort: string | null;
  onSort: (column: string) => void;
  onFilter: (column: string, filter: RowFilter | null) => void;
  retypeAddress: ((column: string) => string) | undefined;
}

export function Grid(props: Props) {
  const { source, columns, total, sample, sort, onSort, onFilter, retypeAddress } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const view = useViewport(scroller, total);
  const [active, setActive] = useState<CellPlace>({ row: 0, column: 0 });
  const [opened, setOpened] = useState<CellPlace | null>(null);
  const widths = useMemo(
    () =>
      columns.map(({ name }, index) =>
        columnWidth(
          name,
          sample.map((row) => row[index] ?? null),
        ),
      ),
    [columns, sample],
  );
  const rows = rowWindow(view.viewport, total);
  const across = columnWindow(widths, view.across.left, view.across.width);
  const { rowAt, error, retry } = useRows(source, blocksOf(rows));

  const reveal = ({ row, column }: CellPlace) => {
    const left = widths.slice(0, column).reduce((sum, width) => sum + width, 0);
    view.reveal(row, left, left + (widths[column] ?? 0) + NUMBER_WIDTH);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys in the header belong to its buttons and fields.
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter') return setOpened(active);
    const page = Math.floor(view.viewport.height / ROW_HEIGHT) - 1;
    const key = { key: event.key, ctrl: event.ctrlKey || event.metaKey };
    const target = moveByKey(key, active, { rows: total, columns: columns.length, page });
    if (!target) return;
    event.preventDefault();
    setActive(target);
    reveal(target);
  };

  const activate = (place: CellPlace) => {
    setActive(place);
    scroller.current?.focus({ preventScroll: true });
  };
  const inner = NUMBER_WIDTH + widths.reduce((sum, width) => sum + width, 0);
  const shift = view.scrolled - view.viewport.top + rows.first * ROW_HEIGHT;
  const shown = columns.slice(across.first, across.end);
  const activeId = `${id}-${active.row}-${active.column}`;
  if (error) return <ErrorState error={error} retry={retry} />;
  return (
    <>
      <div
        ref={scroller}
        role="grid"
        aria-label={t`Rows of ${source.dataset}`}
        aria-rowcount={total + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={total > 0 ? activeId : undefined}
        tabIndex={0}
        className={classes.scroller}
        onScroll={view.onScroll}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" className={classes.head} style={{ width: inner }}>
          <div role="row" aria-rowindex={1} className={classes.headRow}>
            <div role="columnheader" aria-colindex={1} className={classes.corner}>
              #
            </div>
            <div role="presentation" style={{ width: across.before, flexShrink: 0 }} />
            {shown.map((column, offset) => (
              <ColumnHeader
                key={column.name}
                column={column}
                index={across.first + offset}
                width={widths[across.first + offset] ?? 0}
                direction={directionOf(sort, column.name)}
                filter={source.filters.find((filter) => filter.column === column.name)}
                retypeAddress={retypeAddress?.(column.name)}
                onSort={() => {
                  view.rewind();
                  onSort(column.name);
                }}
                onFilter={(filter) => {
                  view.rewind();
                  onFilter(column.name, filter);
                }}
              />
            ))}
          </div>
        </div>
        <div
          role="rowgroup"
          className={classes.body}
          style={{ width: inner, height: contentHeight(total) }}
        >
          <div role="presentation" style={{ transform: `translateY(${shift}px)` }}>
            {Array.from({ length: rows.end - rows.first }, (_, offset) => {
              const number = rows.first + offset;
              return (
                <GridRow
                  key={number}
                  gridId={id}
                  number={number}
                  row={rowAt(number)}
                  columns={shown}
                  first={across.first}
                  before={across.before}
                  widths={widths}
                  active={number === active.row ? active.column : null}
                  onActivate={activate}
                  onOpen={setOpened}
                />
              );
            })}
          </div>
        </div>
      </div>
      <CellView
        columns={columns}
        place={opened}
        row={opened ? rowAt(opened.row) : undefined}
        onClose={() => {
          setOpened(null);
          scroller.current?.focus({ preventScroll: true });
        }}
      />
    </>
  );
}
