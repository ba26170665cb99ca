/** Budgets of a project and of its flows, agents and people, for a day, week or month. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type BudgetItem = Answer<Schemas['BudgetOut']>;
export type NewBudget = Schemas['PeriodBudget'];
export type BudgetLimits = Schemas['BudgetLimits'];

const BUDGETS = '/api/v1/projects/{project_id}/budgets';
const ONE = '/api/v1/projects/{project_id}/budgets/{budget_id}';

export function budgetsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'budget'),
    queryFn: ({ signal }) =>
      bodyOf(api.GET(BUDGETS, { params: { path: { project_id: projectId } }, signal })),
  });
}

function useBudgetChange<Given>(projectId: string, change: (given: Given) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'budget') }),
  });
}

const named = (projectId: string, { id, revision }: BudgetItem) => ({
  path: { project_id: projectId, budget_id: id },
  header: { 'if-match': `"${revision}"` },
});

export function useAddBudget(projectId: string) {
  return useBudgetChange(projectId, (budget: NewBudget) =>
    bodyOf(api.POST(BUDGETS, { params: { path: { project_id: projectId } }, body: budget })),
  );
}

export function useSetBudget(projectId: string) {
  return useBudgetChange(
    projectId,
    ({ saved, limits }: { saved: BudgetItem; limits: BudgetLimits }) =>
      bodyOf(api.PUT(ONE, { params: named(projectId, saved), body: limits })),
  );
}

export function useDeleteBudget(projectId: string) {
  return useBudgetChange(projectId, (saved: BudgetItem) =>
    bodyOf(api.DELETE(ONE, { params: named(projectId, saved) })),
  );
}
