/** Figures of a project and traces of its runs. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

export type Overview = components['schemas']['OverviewOut'];
export type Totals = components['schemas']['TotalsOut'];
export type Ranked = components['schemas']['RankedOut'];
export type Costs = components['schemas']['CostsOut'];
export type Trace = components['schemas']['TraceOut'];
export type TraceSpan = components['schemas']['SpanOut'];
export type Dimension = Costs['by'];

const REFRESHED_EVERY = 15_000;
export const TRACE_WINDOW = 200;

export function overviewQuery(projectId: string, hours: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'observe', 'overview', hours),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/overview', {
          params: { path: { project_id: projectId }, query: { hours } },
          signal,
        }),
      ),
    refetchInterval: REFRESHED_EVERY,
    placeholderData: keepPreviousData,
  });
}

export function costsQuery(projectId: string, by: Dimension, days: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'observe', 'costs', by, days),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/costs', {
          params: { path: { project_id: projectId }, query: { by, days } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function costsFile(projectId: string, by: Dimension, days: number): string {
  return `/api/v1/projects/${projectId}/costs/export?by=${by}&days=${days}`;
}

export interface TraceSearch {
  text: string;
  errors: boolean;
  slowerThan: number;
}

/** One window of a trace; `offset` is a multiple of its size. */
export function traceQuery(
  projectId: string,
  runId: string,
  offset: number,
  search: TraceSearch,
  isLive: boolean,
) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'trace', runId, offset, search),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/trace', {
          params: {
            path: { project_id: projectId, run_id: runId },
            query: {
              offset,
              limit: TRACE_WINDOW,
              q: search.text,
              errors: search.errors,
              slower_than_ms: search.slowerThan,
            },
          },
          signal,
        }),
      ),
    refetchInterval: isLive ? 2_000 : false,
    placeholderData: keepPreviousData,
  });
}
