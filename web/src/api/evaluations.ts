/** Reports of evaluations that a project keeps, how planning goes, and the dossier of a run. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];

export type Evaluation = Answer<Schemas['EvaluationOut']>;
export type EvaluationCase = Schemas['EvaluationCaseOut'];
export type EvaluationDetail = Schemas['EvaluationDetail'];
export type EvaluationComparison = Schemas['EvaluationComparison'];
export type PlannerMeasures = Schemas['PlannerMeasuresOut'];

const at = (projectId: string, reportId: string) => ({
  params: { path: { project_id: projectId, report_id: reportId } },
});

export function evaluationsQuery(projectId: string) {
  return listQuery<Evaluation>(projectKey(projectId, 'evaluation', 'list'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/evaluations', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export function evaluationQuery(projectId: string, reportId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'evaluation', 'one', reportId),
    queryFn: async ({ signal }) => {
      const path = '/api/v1/projects/{project_id}/evaluations/{report_id}';
      const found = await bodyOf(api.GET(path, { ...at(projectId, reportId), signal }));
      return found;
    },
  });
}

export function comparisonQuery(projectId: string, reportId: string, before: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'evaluation', 'comparison', reportId, before),
    queryFn: async ({ signal }) => {
      const path = '/api/v1/projects/{project_id}/evaluations/{report_id}/comparison';
      const { path: where } = at(projectId, reportId).params;
      const asked = api.GET(path, { params: { path: where, query: { before } }, signal });
      return await bodyOf(asked);
    },
  });
}

function useStale(projectId: string) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: projectKey(projectId, 'evaluation') });
}

export function useKeepEvaluation(projectId: string) {
  const stale = useStale(projectId);
  return useMutation({
    mutationFn: (report: Record<string, unknown>) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/evaluations', {
          params: { path: { project_id: projectId } },
          body: { title: '', report },
        }),
      ),
    onSettled: stale,
  });
}

export function useDeleteEvaluation(projectId: string) {
  const stale = useStale(projectId);
  return useMutation({
    mutationFn: (reportId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/evaluations/{report_id}', at(projectId, reportId)),
    onSettled: stale,
  });
}

export function useRestoreEvaluation(projectId: string) {
  const stale = useStale(projectId);
  return useMutation({
    mutationFn: (reportId: string) =>
      bodyOf(
        api.POST(
          '/api/v1/projects/{project_id}/evaluations/{report_id}/restore',
          at(projectId, reportId),
        ),
      ),
    onSettled: stale,
  });
}

export function plannerMeasuresQuery(projectId: string, days: number) {
  return queryOptions({
    // Every turn that ends changes them.
    queryKey: projectKey(projectId, 'run', 'planner-measures', days),
    queryFn: async ({ signal }) => {
      const asked = api.GET('/api/v1/projects/{project_id}/planner/measures', {
        params: { path: { project_id: projectId }, query: { days } },
        signal,
      });
      return await bodyOf(asked);
    },
  });
}

interface DossierPlan {
  branch: number;
  made_by: string;
  model: string | null;
  problems: string[];
  repaired: boolean;
  plan: {
    goal: string;
    steps: {
      id: string;
      title: string;
      agent: string;
      tools: string[];
      fallback_tools: string[];
      reason: string;
    }[];
  };
  reviews: { at: string; decision: string | null; by: string | null }[];
  failed: { message: string } | null;
}

/** As agents/dossier.py writes it. */
export interface Dossier {
  asked: string | null;
  plans: DossierPlan[];
  tried: {
    call: string;
    tool: string;
    decision: { outcome: string; reason: string } | null;
    state: string;
    error: { message: string } | null;
    undone: boolean;
  }[];
  evidence: {
    call: string;
    tool: string;
    summary: string;
    commits: string[];
    artifacts: { name: string }[];
    rows: number | null;
  }[];
  approvals: { call: string; tool: string; decision?: string; by?: string; at: string }[];
  deviations: { step: string; kind: string; tool?: string | null; why: string }[];
  adherence: number | null;
  answer: string | null;
  figures: { text: string; source: string | null }[];
  cost: { usd: string; tokens: number };
  outcome: { status: string; error?: { message: string } | null };
}

export function dossierQuery(projectId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'dossier', runId),
    queryFn: async ({ signal }) => {
      const asked = api.GET('/api/v1/projects/{project_id}/runs/{run_id}/dossier', {
        params: { path: { project_id: projectId, run_id: runId } },
        signal,
      });
      return (await bodyOf(asked)) as unknown as Dossier;
    },
  });
}
