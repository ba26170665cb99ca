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
  /** The commit whose data was read. */
  base: string;
  /** Golden records, mapping of rows, and pairs, in this order. */
  results: string[];
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

/** Applies rules to the data of a commit; a conflict when that has changed on the main branch since. */
export function applyRules(projectId: string, request: ResolveRequest, base: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/resolve', {
      ...inProject(projectId),
      body: { ...request, base, branch: 'main' },
    }),
  );
}

const TRIALS = 'trial/';

/** Addresses name the branch of a trial; one that names another branch must not have it deleted. */
function isTrialBranch(name: string): boolean {
  return name.startsWith(TRIALS);
}

/** The same on a branch of its own, so that the result can be looked at before it is anybody's data. */
export async function tryRules(projectId: string, request: ResolveRequest) {
  const branch = `${TRIALS}${request.target.slice(0, 60)} ${Date.now().toString(36)}`;
  await bodyOf(
    api.POST('/api/v1/projects/{project_id}/branches', {
      ...inProject(projectId),
      body: { name: branch, source: 'main' },
    }),
  );
  try {
    const task = await bodyOf(
      api.POST('/api/v1/projects/{project_id}/resolve', {
        ...inProject(projectId),
        body: { ...request, branch },
      }),
    );
    return { task: task.id, branch };
  } catch (refusal) {
    await forgetTrial(projectId, branch);
    throw refusal;
  }
}

/** Removes the branch of a trial. One that is gone already is no reason to trouble anybody. */
export async function forgetTrial(projectId: string, branch: string): Promise<void> {
  if (!isTrialBranch(branch)) return;
  await api
    .DELETE('/api/v1/projects/{project_id}/branches/{name}', {
      params: { path: { project_id: projectId, name: branch } },
    })
    .catch(() => undefined);
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
