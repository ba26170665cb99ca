/** Tests of playbooks: runs without effects, what each step gave, tests that are kept, and what a run costs. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { isFinal } from './runs';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type TestInputs = Answer<Schemas['TestInputsOut']>;
export type TestResults = Answer<Schemas['ResultsOut']>;
export type NodeResult = Answer<Schemas['NodeResultOut']>;
export type KeptTest = Answer<Schemas['KeptTestOut']>;
export type Price = Answer<Schemas['PriceOut']>;
export type NodePrice = Price['nodes'][number];
export type TestWish = Schemas['TestIn'];

const ONE = '/api/v1/projects/{project_id}/playbooks/{playbook_id}';
const PAUSE = 1_500;
const place = (projectId: string, playbookId: string) => ({
  path: { project_id: projectId, playbook_id: playbookId },
});

export function testInputsQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'test-inputs', playbookId),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(`${ONE}/test-inputs`, { params: place(projectId, playbookId), signal }),
      );
      return items;
    },
  });
}

export function testResultsQuery(projectId: string, playbookId: string, runId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'test', playbookId, runId),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${ONE}/tests/runs/{run_id}`, {
          params: { path: { project_id: projectId, playbook_id: playbookId, run_id: runId } },
          signal,
        }),
      ),
    refetchInterval: ({ state }) => (state.data && isFinal(state.data.run.status) ? false : PAUSE),
  });
}

export function keptTestsQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'kept-tests', playbookId),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(`${ONE}/kept-tests`, { params: place(projectId, playbookId), signal }),
      );
      return items;
    },
  });
}

export function priceQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'price', playbookId),
    queryFn: ({ signal }) =>
      bodyOf(api.GET(`${ONE}/price`, { params: place(projectId, playbookId), signal })),
  });
}

export function useStartTest(projectId: string, playbookId: string) {
  return useMutation({
    mutationFn: (body: TestWish) =>
      bodyOf(api.POST(`${ONE}/tests`, { params: place(projectId, playbookId), body })),
  });
}

export function useContinueTest(projectId: string, playbookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (runId: string) =>
      api.POST(`${ONE}/tests/runs/{run_id}/continue`, {
        params: { path: { project_id: projectId, playbook_id: playbookId, run_id: runId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'run') }),
  });
}

export function useKeepTest(projectId: string, playbookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { run: string; name: string }) =>
      bodyOf(api.POST(`${ONE}/kept-tests`, { params: place(projectId, playbookId), body })),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'playbook') }),
  });
}

export function useForgetTest(projectId: string, playbookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (testId: string) =>
      api.DELETE(`${ONE}/kept-tests/{test_id}`, {
        params: { path: { project_id: projectId, playbook_id: playbookId, test_id: testId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'playbook') }),
  });
}
