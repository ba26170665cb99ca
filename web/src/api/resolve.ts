/** Finding the records that mean the same: rules proposed and weighed, tried out on a branch, then applied. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import type { RowFilter } from './data-types';

export interface Estimate {
  rows: number;
  parties: number;
  pairs_possible: number;
  pairs_compared: number;
  matches: number;
  borderline: number;
  entities: number;
  merged_parties: number;
  largest_entity: number;
  links_refused: number;
  sources: { table: string; rows: number; parties: number; entities: number }[];
  /** What other thresholds would give. */
  steps: { threshold: number; matches: number; entities: number }[];
  notes: string[];
}

export interface Side {
  table: string;
  row: string;
  /** How many rows stand behind this party. */
  rows: number;
  values: Record<string, string | null>;
}

export interface Pair {
  probability: number;
  weight: number;
  merged: boolean;
  left: Side;
  right: Side;
  evidence: {
    field: string;
    level: string;
    weight: number;
    left: string | null;
    right: string | null;
  }[];
}

/** What a proposal or an estimate answers. */
export interface Proposal {
  /** The rules document, as YAML. */
  rules: string;
  estimate: Estimate;
  borderline: Pair[];
  notes: string[];
}

export interface Resolution {
  commit: string;
  /** Golden records, mapping of rows, and pairs, in this order. */
  datasets: string[];
  rows: number;
  entities: number;
  merged_entities: number;
  checks: { name: string; passed: boolean; detail: string }[];
  notes: string[];
}

const inProject = (projectId: string) => ({ params: { path: { project_id: projectId } } });

export function proposeRules(projectId: string, datasets: string[]) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/resolve/propose', {
      ...inProject(projectId),
      body: { datasets, branch: 'main' },
    }),
  );
}

export function estimateRules(projectId: string, datasets: string[], rules: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/resolve/estimate', {
      ...inProject(projectId),
      body: { datasets, rules, branch: 'main' },
    }),
  );
}

export interface ResolveRequest {
  datasets: string[];
  rules: string;
  target: string;
}

export function applyRules(projectId: string, request: ResolveRequest, branch = 'main') {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/resolve', {
      ...inProject(projectId),
      body: { ...request, branch },
    }),
  );
}

/** The same on a branch of its own, so that the result can be looked at before it is anybody's data. */
export async function tryRules(projectId: string, request: ResolveRequest) {
  const name = `trial ${request.target.slice(0, 60)} ${Date.now().toString(36)}`;
  await bodyOf(
    api.POST('/api/v1/projects/{project_id}/branches', {
      ...inProject(projectId),
      body: { name, source: 'main' },
    }),
  );
  return applyRules(projectId, request, name);
}

export interface RowsAtCommit {
  dataset: string;
  commit: string;
  offset?: number;
  limit: number;
  sort?: string[];
  filters?: RowFilter[];
}

/** Rows as a commit has them, on whatever branch; commits never change, so the answer lasts. */
export function rowsAtCommitQuery(projectId: string, wanted: RowsAtCommit) {
  const { dataset, commit, offset = 0, limit, sort = [], filters = [] } = wanted;
  return queryOptions({
    queryKey: ['rows-at-commit', projectId, wanted],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/rows', {
          params: {
            path: { project_id: projectId, dataset },
            query: {
              at: commit,
              offset,
              limit,
              ...(sort.length > 0 ? { sort: JSON.stringify(sort) } : {}),
              ...(filters.length > 0 ? { filter: JSON.stringify(filters) } : {}),
            },
          },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}
