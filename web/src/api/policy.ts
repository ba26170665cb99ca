/** Policy of a project: texts with their revisions, what they would decide, approver groups and settings. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { PolicyLevel, PolicyQuestion, PolicySettings } from './run-types';

/** Which text: a level, and for playbooks which one. */
export interface PolicyPlace {
  level: PolicyLevel;
  subject: string | null;
}

const where = (projectId: string, { level, subject }: PolicyPlace) => ({
  path: { project_id: projectId, level },
  query: subject === null ? {} : { subject },
});

export function presetsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['policy-presets', projectId],
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/policy/presets', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      );
      return items;
    },
    staleTime: Infinity,
  });
}

export function policyQuery(projectId: string, place: PolicyPlace) {
  return queryOptions({
    queryKey: projectKey(projectId, 'policy', 'text', place),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/policy/texts/{level}', {
          params: where(projectId, place),
          signal,
        }),
      ),
  });
}

export function policyHistoryQuery(projectId: string, place: PolicyPlace) {
  return queryOptions({
    queryKey: projectKey(projectId, 'policy', 'history', place),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/policy/texts/{level}/history', {
          params: where(projectId, place),
          signal,
        }),
      );
      return items;
    },
  });
}

/** What is wrong with a text, while it is being written. */
export function policyFaultsQuery(projectId: string, text: string) {
  return queryOptions({
    queryKey: ['policy-faults', projectId, text],
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.POST('/api/v1/projects/{project_id}/policy/faults', {
          params: { path: { project_id: projectId } },
          body: { level: 'project', text },
          signal,
        }),
      );
      return items;
    },
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

export async function simulatePolicy(projectId: string, place: PolicyPlace, text: string) {
  const { items } = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/policy/simulate', {
      params: { path: { project_id: projectId } },
      body: { ...place, text },
    }),
  );
  return items;
}

export function checkPolicy(projectId: string, question: Partial<PolicyQuestion>) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/policy/check', {
      params: { path: { project_id: projectId } },
      body: question as PolicyQuestion,
    }),
  );
}

export interface NewPolicy {
  place: PolicyPlace;
  text: string;
  message: string;
  /** The revision that was read. */
  revision: number;
}

export function useSavePolicy(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ place, text, message, revision }: NewPolicy) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/policy/texts/{level}', {
          params: { ...where(projectId, place), header: { 'if-match': `"${revision}"` } },
          body: { text, message },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'policy') }),
  });
}

/** Its noun is that of `org.steward.settings.changed`. */
export function policySettingsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'settings'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/policy/settings', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

export type SettingsChange = Partial<Pick<PolicySettings, 'safe_mode' | 'tools'>>;

export function useChangePolicySettings(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ revision, ...body }: SettingsChange & { revision: number }) =>
      bodyOf(
        api.PATCH('/api/v1/projects/{project_id}/policy/settings', {
          params: {
            path: { project_id: projectId },
            header: { 'if-match': `"${revision}"` },
          },
          body,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'settings') }),
  });
}

export function approverGroupsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'policy', 'groups'),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/approver-groups', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      );
      return items;
    },
  });
}

export function useSetGroup(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, members }: { name: string; members: string[] }) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/approver-groups/{name}', {
          params: { path: { project_id: projectId, name } },
          body: { members },
        }),
      ),
    onSettled: () =>
      client.invalidateQueries({ queryKey: projectKey(projectId, 'policy', 'groups') }),
  });
}

export function useDeleteGroup(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      api.DELETE('/api/v1/projects/{project_id}/approver-groups/{name}', {
        params: { path: { project_id: projectId, name } },
      }),
    onSettled: () =>
      client.invalidateQueries({ queryKey: projectKey(projectId, 'policy', 'groups') }),
  });
}
