/** Any value of a run: tables as tables, texts as texts, everything else as a tree. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { useState } from 'react';
import { CellTable } from './CellTable';
import { JsonTree } from './JsonTree';
import { ShownOf } from './ShownOf';
import { tableOf, type ValueTable } from './value-table';
import classes from './ValueView.module.css';

const MOST_ROWS = 50;

export function ValueView({ label, value }: { label: string; value: unknown }) {
  if (value === null || value === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t`Nothing`}
      </Text>
    );
  }
  if (typeof value === 'string') return <p className={classes.text}>{value}</p>;
  const table = tableOf(value);
  if (table) {
    const others = restOf(value);
    return (
      <>
        <SmallTable label={label} table={table} />
        {others !== null && <JsonTree label={t`${label}, further facts`} value={others} />}
      </>
    );
  }
  return <JsonTree label={label} value={value} />;
}

/** What a table of columns and rows has besides. */
function restOf(value: object): Record<string, unknown> | null {
  if (Array.isArray(value)) return null;
  const rest = Object.entries(value).filter(([name]) => name !== 'columns' && name !== 'rows');
  return rest.length > 0 ? Object.fromEntries(rest) : null;
}

function SmallTable({ label, table }: { label: string; table: ValueTable }) {
  const [wantsAll, setWantsAll] = useState(false);
  const shown = wantsAll ? table.rows : table.rows.slice(0, MOST_ROWS);
  return (
    <div>
      <CellTable label={label} columns={table.columns} rows={shown} />
      <ShownOf
        shown={shown.length}
        all={table.rows.length}
        of={t`rows`}
        onShowAll={() => setWantsAll(true)}
      />
    </div>
  );
}
