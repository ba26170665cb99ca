/** The caller's own API tokens in a project. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { Role } from './types';

export function tokensQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'token'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/tokens', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export interface NewToken {
  name: string;
  role: Role;
  expires_in_days: number;
}

export function useCreateToken(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewToken) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/tokens', {
          params: { path: { project_id: projectId } },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'token') }),
  });
}

export function useRevokeToken(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (tokenId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/tokens/{token_id}', {
        params: { path: { project_id: projectId, token_id: tokenId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'token') }),
  });
}

export function useRestoreToken(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (tokenId: string) =>
      api.POST('/api/v1/projects/{project_id}/tokens/{token_id}/restore', {
        params: { path: { project_id: projectId, token_id: tokenId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'token') }),
  });
}
