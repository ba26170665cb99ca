/** A table over a list that the server pages: loading, empty, failed and "more" states included. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { CSSProperties, ReactNode } from 'react';
import { itemsOf } from '@/api/lists';
import type { ListPage } from '@/api/types';
import classes from './DataTable.module.css';
import { ErrorState } from './ErrorState';

export interface Column<Row> {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  align?: 'end';
  /** Wide screens only; on small ones the columns share what there is. */
  width?: string;
  /** Small screens leave the column out. */
  hideBelow?: 'sm' | 'md';
  /** Small screens put the column below the others, as one with many buttons. */
  ownLine?: boolean;
  /** The header is there for screen readers only, as over a column of buttons. */
  quietHeader?: boolean;
}

interface Props<Row> {
  /** Says what the table lists, for screen readers. */
  label: string;
  columns: Column<Row>[];
  query: UseInfiniteQueryResult<InfiniteData<ListPage<Row>>>;
  rowKey: (row: Row) => string;
  /** Shown in place of the table when the list has no items. */
  empty: ReactNode;
  /** Leaves rows out that the server sent, such as used-up invitations. */
  filter?: (row: Row) => boolean;
  /** Rows drawn faded, such as revoked tokens. */
  isFaded?: (row: Row) => boolean;
  skeletonRows?: number;
}

export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, query, rowKey, empty, filter, isFaded, skeletonRows = 4 } = props;
  if (query.isError && !query.data) {
    return (
      <div className={classes.frame}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </div>
    );
  }
  const fetched = itemsOf(query.data);
  const rows = filter ? fetched.filter(filter) : fetched;
  if (!query.isPending && rows.length === 0 && !query.hasNextPage) {
    return <div className={classes.frame}>{empty}</div>;
  }
  return (
    <div className={classes.frame}>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label={label} tabIndex={0}>
        <table
          className={classes.table}
          aria-busy={query.isPending}
          data-has-own-line={columns.some(({ ownLine }) => ownLine) || undefined}
        >
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.id} scope="col" {...cellProps(column)}>
                  <span className={column.quietHeader ? classes.quiet : undefined}>
                    {column.header}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {query.isPending
              ? skeletons(columns, skeletonRows)
              : rows.map((row) => (
                  <tr key={rowKey(row)} data-faded={isFaded?.(row) ?? false}>
                    {columns.map((column) => (
                      <td key={column.id} {...cellProps(column)}>
                        {column.cell(row)}
                      </td>
                    ))}
                  </tr>
                ))}
          </tbody>
        </table>
      </div>
      <MoreButton query={query} />
    </div>
  );
}

function cellProps<Row>({ align, hideBelow, ownLine, width }: Column<Row>) {
  return {
    'data-own-line': ownLine,
    'data-align': align,
    'data-hide-below': hideBelow,
    style: width === undefined ? undefined : ({ '--column-width': width } as CSSProperties),
  };
}

function skeletons<Row>(columns: Column<Row>[], count: number) {
  return Array.from({ length: count }, (_, row) => (
    <tr key={row} aria-hidden>
      {columns.map((column, index) => (
        <td key={column.id} {...cellProps(column)}>
          <Skeleton height={12} my={5} width={index === 0 ? '60%' : '40%'} radius="xl" />
        </td>
      ))}
    </tr>
  ));
}

interface MoreProps {
  query: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage'
  >;
}

/** Fetches the next page of a list, as long as there is one. */
export function MoreButton({ query }: MoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className={classes.more}>
      <Button
        variant="subtle"
        color="gray"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {query.isFetchNextPageError ? t`That failed. Try again` : t`Show more`}
      </Button>
    </div>
  );
}
