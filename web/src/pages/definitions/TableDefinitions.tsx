/** A table: what one row is, its columns with their roles, named parts of it and default filters. */
import { plural, t } from '@lingui/core/macro';
import { Button, NativeSelect, Text } from '@mantine/core';
import { ChevronRight } from 'lucide-react';
import type { Entry } from '@/api/definitions';
import classes from './definitions.module.css';
import { type EntryActions, EntryLine } from './EntryLine';
import type { ShownEntry, ShownTable } from './entries';
import { fromForm, ROLES, toForm, TOTALS } from './fields';

interface Props extends EntryActions {
  shown: ShownTable;
  missing: ReadonlySet<string>;
  isOpen: boolean;
  onSet: (entry: ShownEntry, value: Entry) => void;
  onAdd: (kind: 'segment' | 'default filter', table: string) => void;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function TableDefinitions({ shown, missing, isOpen, onSet, onAdd, ...actions }: Props) {
  const { table, columns, segments, filters } = shown;
  const open = [table, ...columns, ...segments, ...filters].filter(
    ({ state }) => state === 'proposed',
  ).length;
  return (
    <details className={classes.table} open={isOpen}>
      <summary className={classes.summary}>
        <ChevronRight size={14} aria-hidden className={classes.chevron} />
        <Text span fw={600} size="sm">
          {table.name}
        </Text>
        <Text span size="xs" c="dimmed">
          {columns.length} {plural(columns.length, { one: `column`, other: `columns` })}
          {open > 0 && t`, ${open} to confirm`}
        </Text>
      </summary>
      <ul className={classes.list} aria-label={t`Definitions of ${table.name}`}>
        <EntryLine entry={table} isMissing={missing.has(table.pointer)} {...actions}>
          <TableFacts value={table.value} />
        </EntryLine>
        {columns.map((column) => (
          <EntryLine
            key={column.pointer}
            entry={column}
            isMissing={missing.has(column.pointer)}
            {...actions}
          >
            <ColumnFacts column={column} mayEdit={actions.mayEdit} onSet={onSet} />
          </EntryLine>
        ))}
        {[...filters, ...segments].map((entry) => (
          <EntryLine key={entry.pointer} entry={entry} {...actions}>
            <Text size="xs" c="dimmed">
              {entry.kind === 'segment' ? t`These rows: ` : t`Default filter: `}
              <code>{text(entry.value.where)}</code>
            </Text>
          </EntryLine>
        ))}
      </ul>
      {actions.mayEdit && (
        <div className={classes.foot}>
          <Button variant="default" size="compact-sm" onClick={() => onAdd('segment', table.name)}>
            {t`Name some rows`}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => onAdd('default filter', table.name)}
          >
            {t`Add a default filter`}
          </Button>
        </div>
      )}
    </details>
  );
}

function TableFacts({ value }: { value: Entry }) {
  const facts = [
    text(value.row) && t`One row is one ${text(value.row)}.`,
    list(value.key).length > 0 && t`Key: ${list(value.key).join(', ')}.`,
    text(value.name_column) && t`Known by ${text(value.name_column)}.`,
    text(value.default_time) && t`Time: ${text(value.default_time)}.`,
    list(value.synonyms).length > 0 && t`Also called ${list(value.synonyms).join(', ')}.`,
  ].filter(Boolean);
  return <Text size="xs">{facts.join(' ')}</Text>;
}

interface ColumnProps {
  column: ShownEntry;
  mayEdit: boolean;
  onSet: (entry: ShownEntry, value: Entry) => void;
}

function ColumnFacts({ column, mayEdit, onSet }: ColumnProps) {
  const { value, name } = column;
  const role = text(value.role);
  const set = (field: string, chosen: string) =>
    onSet(column, fromForm('column', { ...toForm('column', value), [field]: chosen }, value));
  const facts = [
    text(value.unit) && t`in ${text(value.unit)}`,
    text(value.unit_column) && t`unit by ${text(value.unit_column)}`,
    text(value.zone) && t`zone ${text(value.zone)}`,
    role === 'measure' && text(value.additive) === 'never' && t`not added up`,
    role === 'measure' && text(value.additive) === 'not over time' && t`not added up over time`,
    list(value.synonyms).length > 0 && t`also called ${list(value.synonyms).join(', ')}`,
  ].filter(Boolean);
  return (
    <div className={classes.facts}>
      <NativeSelect
        size="xs"
        aria-label={t`Role of ${name}`}
        disabled={!mayEdit}
        data={ROLES.map(([id, label]) => ({ value: id, label }))}
        value={role}
        onChange={(event) => set('role', event.currentTarget.value)}
      />
      {role === 'measure' && (
        <NativeSelect
          size="xs"
          aria-label={t`${name} is summarised by`}
          disabled={!mayEdit}
          data={TOTALS.map(([id, label]) => ({ value: id, label }))}
          value={text(value.total)}
          onChange={(event) => set('total', event.currentTarget.value)}
        />
      )}
      {facts.length > 0 && <Text size="xs">{facts.join(', ')}</Text>}
    </div>
  );
}
