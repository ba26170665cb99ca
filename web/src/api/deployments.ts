/** Deployments of playbooks: checked, made, rolled back, tried on a share of the runs; and two versions compared. */
import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { itemsOf, listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type Deployment = Answer<Schemas['DeploymentOut']>;
export type DeploymentDetail = Answer<Schemas['DeploymentDetail']>;
export type Preparation = Answer<Schemas['PreparationOut']>;
export type Finding = Answer<Schemas['FindingOut']>;
export type Pin = Answer<Schemas['PinOut']>;
export type ChangedPin = Answer<Schemas['ChangedPinOut']>;
export type Comparison = Answer<Schemas['ComparisonOut']>;
export type NodeChange = Answer<Schemas['NodeChangeOut']>;
export type FieldChange = Answer<Schemas['FieldChangeOut']>;
export type RevisionDetail = Answer<Schemas['RevisionDetail']>;
export type Shadow = Answer<Schemas['ShadowOut']>;
export type ShadowComparison = Answer<Schemas['ShadowComparisonOut']>;
export type Retried = Answer<Schemas['RetriedOut']>;

const ONE = '/api/v1/projects/{project_id}/playbooks/{playbook_id}';
const place = (projectId: string, playbookId: string) => ({
  path: { project_id: projectId, playbook_id: playbookId },
});

export function deploymentsQuery(projectId: string, playbookId: string) {
  return listQuery<Deployment>(
    projectKey(projectId, 'playbook', 'deployments', playbookId),
    (query, signal) =>
      bodyOf(
        api.GET(`${ONE}/deployments`, {
          params: { ...place(projectId, playbookId), query },
          signal,
        }),
      ),
  );
}

export function deploymentQuery(projectId: string, playbookId: string, number: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'deployment', playbookId, number),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${ONE}/deployments/{deployment}`, {
          params: {
            path: { project_id: projectId, playbook_id: playbookId, deployment: number },
          },
          signal,
        }),
      ),
  });
}

export function preparationQuery(projectId: string, playbookId: string, revision: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'preparation', playbookId, revision),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${ONE}/preparation`, {
          params: { ...place(projectId, playbookId), query: { revision } },
          signal,
        }),
      ),
  });
}

export function comparisonQuery(
  projectId: string,
  playbookId: string,
  left: number,
  right: number,
) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'comparison', playbookId, left, right),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${ONE}/comparison`, {
          params: { ...place(projectId, playbookId), query: { left, right } },
          signal,
        }),
      ),
  });
}

export function revisionQuery(projectId: string, playbookId: string, revision: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'revision', playbookId, revision),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${ONE}/revisions/{revision}`, {
          params: { path: { project_id: projectId, playbook_id: playbookId, revision } },
          signal,
        }),
      ),
  });
}

function useChange<Given, Made>(projectId: string, change: (given: Given) => Promise<Made>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'playbook') }),
  });
}

export interface DeployWish {
  revision: number;
  message: string;
  /** Also where tests have another result than before. */
  despite_tests?: boolean;
}

export function useDeploy(projectId: string, playbookId: string) {
  return useChange(projectId, (wish: DeployWish) =>
    bodyOf(
      api.POST(`${ONE}/deploy`, {
        params: place(projectId, playbookId),
        body: { despite_tests: false, ...wish },
      }),
    ),
  );
}

export function useRollBackTo(projectId: string, playbookId: string) {
  return useChange(projectId, (to: number | null) =>
    bodyOf(
      api.POST(`${ONE}/rollback`, {
        params: place(projectId, playbookId),
        body: { to, message: '' },
      }),
    ),
  );
}

export function useCanary(projectId: string, playbookId: string) {
  return useChange(projectId, (body: { revision: number; percent: number } | null) =>
    body === null
      ? bodyOf(api.DELETE(`${ONE}/canary`, { params: place(projectId, playbookId) }))
      : bodyOf(
          api.PUT(`${ONE}/canary`, {
            params: place(projectId, playbookId),
            body: { ...body, message: '' },
          }),
        ),
  );
}

export function shadowQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'shadow', playbookId),
    queryFn: async ({ signal }) => {
      const { shadow } = await bodyOf(
        api.GET(`${ONE}/shadow`, { params: place(projectId, playbookId), signal }),
      );
      return shadow;
    },
  });
}

const OPEN = new Set<ShadowComparison['state']>(['waiting', 'running']);
const LOOK_AGAIN = 5_000;

/** Looks again while more may come, and until the last comparison is made. */
export function shadowComparisonsQuery(projectId: string, playbookId: string, isLive: boolean) {
  const list = listQuery<ShadowComparison>(
    projectKey(projectId, 'playbook', 'shadow-comparisons', playbookId),
    (query, signal) =>
      bodyOf(
        api.GET(`${ONE}/shadow/comparisons`, {
          params: { ...place(projectId, playbookId), query },
          signal,
        }),
      ),
  );
  return infiniteQueryOptions({
    ...list,
    refetchInterval: ({ state }) =>
      isLive || itemsOf(state.data).some((item) => OPEN.has(item.state)) ? LOOK_AGAIN : false,
  });
}

export interface ShadowWish {
  revision: number;
  percent: number;
  spend: boolean;
}

export function useShadow(projectId: string, playbookId: string) {
  return useChange(projectId, (body: ShadowWish | null) =>
    body === null
      ? bodyOf(api.DELETE(`${ONE}/shadow`, { params: place(projectId, playbookId) }))
      : bodyOf(
          api.PUT(`${ONE}/shadow`, {
            params: place(projectId, playbookId),
            body: { ...body, message: '' },
          }),
        ),
  );
}

export interface RetryWish {
  runs: string[];
  version: 'same' | 'deployed' | number;
  from_failure: boolean;
  /** A step: what was done before it is kept. */
  at?: string;
}

export function useRetry(projectId: string, playbookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: RetryWish) => {
      const { items } = await bodyOf(
        api.POST(`${ONE}/retries`, { params: place(projectId, playbookId), body }),
      );
      return items;
    },
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'run') }),
  });
}
