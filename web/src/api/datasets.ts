/** Datasets of a project: list, one dataset, its rows, where it comes from and its export. */
import { t } from '@lingui/core/macro';
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import type { Lineage, RowFilter, RowPage } from './data-types';
import { projectKey } from './keys';
import { listQuery } from './lists';
import { workOf } from './long-work';

export const EXPORT_FORMATS = [
  { value: 'csv', label: t`CSV` },
  { value: 'xlsx', label: t`Excel` },
  { value: 'parquet', label: t`Parquet` },
  { value: 'delta', label: t`Delta table (zip)` },
  { value: 'iceberg', label: t`Iceberg table (zip)` },
] as const;

export function datasetsQuery(projectId: string, branch = 'main') {
  const part = branch === 'main' ? [] : [branch];
  return listQuery(projectKey(projectId, 'data', 'datasets', ...part), (_page, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/datasets', {
        params: { path: { project_id: projectId }, query: { branch } },
        signal,
      }),
    ),
  );
}

export function datasetQuery(projectId: string, name: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'dataset', name),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/datasets/{dataset}', {
          params: { path: { project_id: projectId, dataset: name } },
          signal,
        }),
      ),
  });
}

/** What part of which rows is wanted. A version never changes, so an answer may be kept for ever. */
export interface RowRequest {
  version: string;
  offset: number;
  limit: number;
  sort: readonly string[];
  filters: readonly RowFilter[];
  revealed?: string | undefined;
}

export function fetchRows(
  projectId: string,
  name: string,
  { version, offset, limit, sort, filters, revealed }: RowRequest,
  signal?: AbortSignal,
): Promise<RowPage> {
  return bodyOf(
    api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/rows', {
      params: {
        path: { project_id: projectId, dataset: name },
        query: {
          version,
          offset,
          limit,
          ...(sort.length > 0 ? { sort: JSON.stringify(sort) } : {}),
          ...(filters.length > 0 ? { filter: JSON.stringify(filters) } : {}),
          ...(revealed === undefined ? {} : { revealed }),
        },
      },
      ...(signal ? { signal } : {}),
    }),
  );
}

/** Asks to see the values of all encrypted columns; policy decides, and perhaps an admin. */
export async function startReveal(projectId: string, name: string) {
  const run = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/datasets/{dataset}/reveal', {
      params: { path: { project_id: projectId, dataset: name } },
      body: { columns: [] },
    }),
  );
  return workOf(run);
}

export function lineageQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'lineage'),
    queryFn: async ({ signal }) => {
      const answer = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/lineage', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      );
      // The schema leaves the shape of nodes and edges open.
      return answer as unknown as Lineage;
    },
  });
}

export type ExportFormat = (typeof EXPORT_FORMATS)[number]['value'];

/** Starts an export: a run, whose file can be downloaded for a day. */
export async function startExport(
  projectId: string,
  name: string,
  format: ExportFormat,
  agreed: { several_sheets?: boolean; convert_types?: boolean },
) {
  const run = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/datasets/{dataset}/exports', {
      params: { path: { project_id: projectId, dataset: name } },
      body: { format, at: 'main', several_sheets: false, convert_types: false, ...agreed },
    }),
  );
  return workOf(run);
}

/** Where the file of an export is. */
export function exportAddress(projectId: string, name: string, runId: string): string {
  const [project, dataset] = [projectId, name].map(encodeURIComponent);
  return `/api/v1/projects/${project}/datasets/${dataset}/exports/${runId}`;
}
