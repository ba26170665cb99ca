/** Entries of definitions as the page shows them: each with its pointer, its kind and its state. */
import { t } from '@lingui/core/macro';
import type { Definitions, DefinitionState, Entry, Relationship } from '@/api/definitions';

export type EntryKind =
  'table' | 'column' | 'metric' | 'relationship' | 'segment' | 'default filter' | 'question';

export interface ShownEntry {
  kind: EntryKind;
  pointer: string;
  name: string;
  value: Entry;
  state: DefinitionState;
  /** The table it belongs to. */
  table: string | null;
}

/** A JSON pointer (RFC 6901). */
export function pointerOf(...parts: string[]): string {
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What a pointer names, for people: "amount of orders" rather than /tables/orders/columns/amount. */
export function nameOfPointer(pointer: string): string {
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.at(-1) ?? pointer;
  return parts.length === 4 ? t`${last} of ${parts[1] ?? ''}` : last;
}

export function relationshipName(each: Relationship): string {
  return `${each.from_table}(${each.from_columns.join(', ')}) → ${each.to_table}(${each.to_columns.join(', ')})`;
}

function shown(
  kind: EntryKind,
  pointer: string,
  name: string,
  value: object,
  table: string | null = null,
): ShownEntry {
  const entry = value as Entry;
  return { kind, pointer, name, value: entry, state: stateOf(entry), table };
}

export function stateOf(entry: Entry): DefinitionState {
  return (entry.state as DefinitionState | undefined) ?? 'proposed';
}

/** A table with everything inside it. */
export interface ShownTable {
  table: ShownEntry;
  columns: ShownEntry[];
  segments: ShownEntry[];
  filters: ShownEntry[];
}

export interface ShownDefinitions {
  tables: ShownTable[];
  metrics: ShownEntry[];
  relationships: ShownEntry[];
  questions: ShownEntry[];
}

export function arrange(definitions: Definitions): ShownDefinitions {
  return {
    tables: Object.entries(definitions.tables ?? {}).map(([name, table]) => {
      const { columns, segments, default_filters: filters, ...own } = table;
      return {
        table: shown('table', pointerOf('tables', name), name, own, name),
        columns: Object.entries(columns ?? {}).map(([column, value]) =>
          shown('column', pointerOf('tables', name, 'columns', column), column, value, name),
        ),
        segments: Object.entries(segments ?? {}).map(([segment, value]) =>
          shown('segment', pointerOf('tables', name, 'segments', segment), segment, value, name),
        ),
        filters: (filters ?? []).map((value) =>
          shown(
            'default filter',
            pointerOf('tables', name, 'default_filters', value.where),
            value.say,
            value,
            name,
          ),
        ),
      };
    }),
    metrics: Object.entries(definitions.metrics ?? {}).map(([name, value]) =>
      shown('metric', pointerOf('metrics', name), name, value, value.over),
    ),
    relationships: (definitions.relationships ?? []).map((value) => {
      const name = relationshipName(value);
      return shown('relationship', pointerOf('relationships', name), name, value);
    }),
    questions: (definitions.questions ?? []).map((value) =>
      shown('question', pointerOf('questions', value.ask), value.ask, value),
    ),
  };
}

export function everyEntry(all: ShownDefinitions): ShownEntry[] {
  return [
    ...all.tables.flatMap(({ table, columns, segments, filters }) => [
      table,
      ...columns,
      ...segments,
      ...filters,
    ]),
    ...all.metrics,
    ...all.relationships,
    ...all.questions,
  ];
}

/** Only what nobody has decided on yet; tables stay while something in them waits. */
export function onlyProposed(all: ShownDefinitions): ShownDefinitions {
  const open = (entry: ShownEntry) => entry.state === 'proposed';
  return {
    tables: all.tables
      .map(({ table, columns, segments, filters }) => ({
        table,
        columns: columns.filter(open),
        segments: segments.filter(open),
        filters: filters.filter(open),
      }))
      .filter(
        ({ table, columns, segments, filters }) =>
          open(table) || columns.length + segments.length + filters.length > 0,
      ),
    metrics: all.metrics.filter(open),
    relationships: all.relationships.filter(open),
    questions: all.questions.filter(open),
  };
}
