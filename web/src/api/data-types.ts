/** Names for the shapes of data in the HTTP API: datasets, their history and what can be done to them. */
import type { components, paths } from './schema';

type Schemas = components['schemas'];

export type ColumnInfo = Schemas['ColumnOut'];
export type Dataset = Schemas['DatasetOut'];
export type RowPage = Schemas['RowsOut'];
export type Commit = Schemas['CommitOut'];
export type EntryChange = Schemas['EntryChangeOut'];
/** Runs have undo plans too, so the schema's own name for it is not to be relied upon. */
export type UndoPlan =
  paths['/api/v1/projects/{project_id}/commits/{commit_id}/undo']['get']['responses'][200]['content']['application/json'];
export type Diff = Schemas['DiffOut'];
export type DiffRow = Schemas['DiffRowOut'];
export type Operation = Schemas['OperationOut'];
export type ChangePreview = Schemas['ChangePreview'];
export type CellChange = Schemas['CellOut'];
export type Upload = Schemas['UploadOut'];
export type IngestOptions = Schemas['FileOptions'];

/** The operators of row filters; `empty` and `filled` take no value. */
export type FilterOperator =
  'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'contains' | 'starts' | 'empty' | 'filled';

export interface RowFilter {
  column: string;
  operator: FilterOperator;
  value: string;
}

/** A node of the lineage graph: a file, an operation or a dataset. */
export interface LineageNode {
  id: string;
  kind: 'file' | 'operation' | 'dataset';
  label: string;
  commit: string | null;
  /** Of an operation: where each column it made comes from, as pairs of dataset and column. */
  columns?: { output: string; inputs: [string, string][]; transformation: string }[];
}

export interface Lineage {
  nodes: LineageNode[];
  edges: { from: string; to: string }[];
}
