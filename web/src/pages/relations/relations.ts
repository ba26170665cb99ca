/** Relations between datasets as the server found them, and the join that follows from one. */
import { t } from '@lingui/core/macro';
import type { ChangeRequest } from '@/api/changes';
import type { GraphEdge, GraphNode } from '@/components/graph-layout';

export interface Relationship {
  kind: string;
  table: string;
  columns: string[];
  referenced_table: string;
  referenced_columns: string[];
  cardinality: string;
  coverage: number;
  orphan_rows: number;
  orphan_values: number;
  largest_fan_out: number;
  score: number;
  reason: string;
  join: {
    left: string;
    right: string;
    on: [string, string][];
    how: string;
    normalisation: string;
    reason: string;
  };
}

export interface Relations {
  keys: { table: string; columns: string[]; primary: boolean; reason: string }[];
  relationships: Relationship[];
  graph: { nodes: { id: string; rows: number; columns: number; key: string[] }[] };
  notes: string[];
}

export const JOIN_KINDS = [
  { value: 'left', label: t`Left: every row of the first` },
  { value: 'inner', label: t`Inner: only rows with a partner` },
  { value: 'full', label: t`Full: every row of both` },
  { value: 'right', label: t`Right: every row of the second` },
  { value: 'semi', label: t`Semi: rows of the first with a partner, nothing added` },
  { value: 'anti', label: t`Anti: rows of the first without a partner` },
];

export function keyOf({ table, columns, referenced_table, referenced_columns }: Relationship) {
  return `${table}.${columns.join('+')} → ${referenced_table}.${referenced_columns.join('+')}`;
}

export function graphOf(
  { graph, relationships }: Relations,
  number: (value: number) => string,
): { nodes: GraphNode[]; edges: GraphEdge[] } {
  return {
    nodes: graph.nodes.map(({ id, rows, columns, key }) => ({
      id,
      label: id,
      kind: 'dataset',
      details: [
        t`${number(rows)} rows, ${columns} columns`,
        ...(key.length > 0 ? [`key: ${key.join(', ')}`] : []),
      ],
    })),
    edges: relationships.map((found) => ({
      id: keyOf(found),
      from: found.table,
      to: found.referenced_table,
      label: `${found.columns.join(', ')} (${found.cardinality})`,
      isWeak: found.kind !== 'foreign key',
    })),
  };
}

/** The join that was suggested, as a change to preview. */
export function joinChange(
  { join }: Relationship,
  { target, how }: { target: string; how: string },
): ChangeRequest {
  return {
    operation: 'join',
    datasets: [join.left, join.right],
    arguments: { on: join.on, how, key_normalisation: join.normalisation },
    target,
  };
}
