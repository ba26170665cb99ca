/** The network policy: which places may be called for a project, and for every project of its organisation. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

export type NetworkLevel = 'project' | 'organisation';
export type NetworkPolicy = Answer<components['schemas']['NetworkPolicyOut']>;

export interface NetworkRules {
  allow: string[] | null;
  deny: string[];
  programs: boolean;
}

const NOUN = 'network';
const ONE = '/api/v1/projects/{project_id}/network/{level}';

export function networkQuery(projectId: string, level: NetworkLevel) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, level),
    queryFn: ({ signal }) =>
      bodyOf(api.GET(ONE, { params: { path: { project_id: projectId, level } }, signal })),
  });
}

export function useSaveNetwork(projectId: string, level: NetworkLevel) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ rules, revision }: { rules: NetworkRules; revision: number }) =>
      bodyOf(
        api.PUT(ONE, {
          params: {
            path: { project_id: projectId, level },
            header: { 'if-match': `"${revision}"` },
          },
          body: rules,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) }),
  });
}

/** Takes a change back, by the run that made it. */
export function useUndoNetwork(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (runId: string) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/runs/{run_id}/undo', {
          params: { path: { project_id: projectId, run_id: runId } },
          body: { key: 'call', merge_rows: false },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) }),
  });
}

/** Whether a host could be called under these rules. Nothing is looked up or called. */
export function useTryNetwork(projectId: string, level: NetworkLevel) {
  return useMutation({
    mutationFn: ({ rules, host, port }: { rules: NetworkRules; host: string; port: number }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/network/{level}/try', {
          params: { path: { project_id: projectId, level } },
          body: { ...rules, host, port },
        }),
      ),
  });
}
