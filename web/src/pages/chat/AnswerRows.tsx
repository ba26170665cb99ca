/** The rows that answer a question: the first ones, and all of them page by page. One figure is told by its sentence. */
import { plural, t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Turn } from '@/api/chat-types';
import { itemsOf } from '@/api/lists';
import { turnRowsQuery } from '@/api/threads';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import type { ValueTable } from '@/components/value-table';
import classes from './chat.module.css';
import type { Shown } from './results';
import { RowsTable } from './RowsTable';

const FIRST = 10;

interface Props {
  turn: Turn;
  table: NonNullable<Shown['table']>;
}

export function AnswerRows({ turn, table: { key, table, title, rowsInAll } }: Props) {
  const project = useProject();
  const formats = useFormats();
  const [wantsAll, setWantsAll] = useState(false);
  const isLong = rowsInAll > table.rows.length;
  const pages = useInfiniteQuery({
    ...turnRowsQuery(project.id, turn.thread_id, turn.run_id, key),
    enabled: wantsAll && isLong,
  });
  if (rowsInAll * table.columns.length < 2) return null;
  const fetched = itemsOf(pages.data) as ValueTable['rows'];
  const known = fetched.length > table.rows.length ? fetched : table.rows;
  const rows = wantsAll ? known : table.rows.slice(0, FIRST);
  const count = formats.number(rows.length);
  const all = formats.number(rowsInAll);
  return (
    <div className={classes.answerRows}>
      <RowsTable label={t`Rows: ${title}`} table={{ ...table, rows }} />
      <div className={classes.rowsFoot}>
        <Text span size="xs" c="dimmed" className="tabular">
          {rows.length < rowsInAll
            ? t`${count} of ${all} rows`
            : plural(rowsInAll, { one: `${all} row`, other: `${all} rows` })}
        </Text>
        {!wantsAll && rows.length < rowsInAll && (
          <Button size="compact-xs" variant="subtle" onClick={() => setWantsAll(true)}>
            {t`Show all`}
          </Button>
        )}
        {wantsAll && isLong && pages.hasNextPage && (
          <Button
            size="compact-xs"
            variant="subtle"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            {t`Show more`}
          </Button>
        )}
      </div>
    </div>
  );
}
