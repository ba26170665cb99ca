/** Secrets of a project: their names come back, their values never do. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';

export function secretsQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'secret'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/secrets', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export function secretSourcesQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'secret-source'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/secrets/sources', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

/** A value, or where it is read from. */
export type SecretContent = { value: string } | { source: string; reference: string };

export function useSetSecret(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, content }: { name: string; content: SecretContent }) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/secrets/{name}', {
          params: { path: { project_id: projectId, name } },
          body: content,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'secret') }),
  });
}

export function useDeleteSecret(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      api.DELETE('/api/v1/projects/{project_id}/secrets/{name}', {
        params: { path: { project_id: projectId, name } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'secret') }),
  });
}

export function useRestoreSecret(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      api.POST('/api/v1/projects/{project_id}/secrets/{name}/restore', {
        params: { path: { project_id: projectId, name } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'secret') }),
  });
}
