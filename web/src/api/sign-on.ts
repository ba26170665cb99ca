/** Single sign-on: what the sign-in page offers, and the providers that an organisation's owners set up. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

export type ProviderDraft = components['schemas']['ProviderRequest'];

/** Public: the buttons beside the password. */
export const offeredQuery = queryOptions({
  queryKey: ['sign-on'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/sign-on', { signal })),
  retry: false,
});

const key = (projectId: string) => projectKey(projectId, 'sign_on');

export function providersQuery(projectId: string) {
  return queryOptions({
    queryKey: key(projectId),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/sign-on/providers', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
    retry: false,
  });
}

interface Saved {
  draft: ProviderDraft;
  /** Absent for a new one. */
  provider?: { id: string; revision: number } | undefined;
}

export function useSaveProvider(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ draft, provider }: Saved) =>
      provider === undefined
        ? bodyOf(
            api.POST('/api/v1/projects/{project_id}/sign-on/providers', {
              params: { path: { project_id: projectId } },
              body: draft,
            }),
          )
        : bodyOf(
            api.PUT('/api/v1/projects/{project_id}/sign-on/providers/{provider_id}', {
              params: {
                path: { project_id: projectId, provider_id: provider.id },
                header: { 'if-match': `"${provider.revision}"` },
              },
              body: draft,
            }),
          ),
    onSettled: () => client.invalidateQueries({ queryKey: key(projectId) }),
  });
}

export function useDeleteProvider(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (providerId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/sign-on/providers/{provider_id}', {
        params: { path: { project_id: projectId, provider_id: providerId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: key(projectId) }),
  });
}

/** Asks the provider for its description and its keys. */
export function useCheckProvider(projectId: string) {
  return useMutation({
    mutationFn: (providerId: string) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/sign-on/providers/{provider_id}/check', {
          params: { path: { project_id: projectId, provider_id: providerId } },
        }),
      ),
  });
}
