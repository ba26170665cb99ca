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
export type Analysis = components['schemas']['AnalysisOut'];
export type Finding = components['schemas']['RunFindingOut'];
export type SpanContent = components['schemas']['SpanContentOut'];
export type SpanLine = components['schemas']['LineOut'];
export type SpanDiffLine = components['schemas']['DiffLineOut'];
export type TraceBucket = components['schemas']['BucketOut'];
export type Detail = components['schemas']['DetailOut'];
export type DetailSums = components['schemas']['SumsOut'];
export type Dimension = Costs['by'];

export const TRACE_WINDOW = 200;

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

/** What each day cost, as days are for the reader. */
export function costDaysQuery(projectId: string, zone: string, days: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'observe', 'cost-days', zone, days),
    queryFn: async ({ signal }) => {
      const { first, items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/costs/days', {
          params: { path: { project_id: projectId }, query: { zone, days } },
          signal,
        }),
      );
      return { first, usd: new Map(items.map(({ day, usd }) => [day, usd])) };
    },
  });
}

export function costsFile(projectId: string, by: Dimension, days: number): string {
  return `/api/v1/projects/${projectId}/costs/export?by=${by}&days=${days}`;
}

export function detailQuery(projectId: string, kind: Detail['kind'], name: string, days: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'observe', 'detail', kind, name, days),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/overview/detail', {
          params: { path: { project_id: projectId }, query: { kind, name, days } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export interface TraceSearch {
  text: string;
  operation: string | null;
  errors: boolean;
  slowerThan: number;
}

/** One window of a trace; `offset` is a multiple of its size, `folded` the positions below which nothing is shown. */
/** Asks again while the run goes on, or while the server has read only the beginning of a long trace. */
function whileTold(isLive: boolean) {
  return (query: { state: { data?: Trace | undefined } }) =>
    isLive || query.state.data?.reading ? 2_000 : false;
}

export function traceQuery(
  projectId: string,
  runId: string,
  offset: number,
  search: TraceSearch,
  folded: readonly number[],
  isLive: boolean,
) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'trace', runId, offset, search, folded),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/trace', {
          params: {
            path: { project_id: projectId, run_id: runId },
            query: {
              offset,
              limit: TRACE_WINDOW,
              q: search.text,
              ...(search.operation === null ? {} : { operation: search.operation }),
              errors: search.errors,
              slower_than_ms: search.slowerThan,
              ...(folded.length === 0 ? {} : { folded: [...folded] }),
              buckets: false,
            },
          },
          signal,
        }),
      ),
    refetchInterval: whileTold(isLive),
    // Rows of one window must never stand in for those of another.
    ...(offset === 0 ? { placeholderData: keepPreviousData } : {}),
  });
}

/** A picture of the whole trace; it takes longer than a window, and no filter changes it. */
export function traceBucketsQuery(projectId: string, runId: string, isLive: boolean) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'trace', runId, 'buckets'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/trace', {
          params: {
            path: { project_id: projectId, run_id: runId },
            query: { offset: 0, limit: 1 },
          },
          signal,
        }),
      ),
    select: ({ buckets }) => buckets,
    refetchInterval: whileTold(isLive),
  });
}

/** Spans that failed, to go from one to the next. */
export function traceErrorsQuery(projectId: string, runId: string, isLive: boolean) {
  const search = { text: '', operation: null, errors: true, slowerThan: 0 };
  return traceQuery(projectId, runId, 0, search, [], isLive);
}

export function analysisQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'analysis', runId),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/analysis', {
          params: { path: { project_id: projectId, run_id: runId } },
          signal,
        }),
      ),
  });
}

/** Starts a run that has a model explain another run. */
export function startAnalysis(projectId: string, runId: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/runs/{run_id}/analysis', {
      params: { path: { project_id: projectId, run_id: runId } },
    }),
  );
}

export function spanContentQuery(projectId: string, runId: string, about: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'span', runId, about),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/span-content', {
          params: { path: { project_id: projectId, run_id: runId }, query: { about } },
          signal,
        }),
      ),
    retry: false,
  });
}

export interface SpanPlace {
  run: string;
  about: string;
}

/** What is different in a span from another one. */
export function spanDiffQuery(projectId: string, span: SpanPlace, other: SpanPlace) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'span-diff', span, other),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/runs/{run_id}/span-diff', {
          params: {
            path: { project_id: projectId, run_id: span.run },
            query: { about: span.about, other: other.run, other_about: other.about },
          },
          signal,
        }),
      ),
    retry: false,
  });
}
