/** How long a project keeps its records, and the legal holds that stop every deletion. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, versionedBodyOf } from './client';
import { projectKey } from './keys';

export interface Periods {
  runs: number | null;
  versions: number | null;
  events: number | null;
  audit: number | null;
}

const path = (projectId: string) => ({ project_id: projectId });

export function retentionQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'retention'),
    queryFn: ({ signal }) =>
      versionedBodyOf(
        api.GET('/api/v1/projects/{project_id}/retention', {
          params: { path: path(projectId) },
          signal,
        }),
      ),
  });
}

export function holdsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'hold'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/holds', {
          params: { path: path(projectId) },
          signal,
        }),
      ),
  });
}

export function useSaveRetention(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ periods, etag }: { periods: Periods; etag: string }) =>
      versionedBodyOf(
        api.PUT('/api/v1/projects/{project_id}/retention', {
          params: { path: path(projectId), header: { 'if-match': etag } },
          body: periods,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'retention') }),
  });
}

/** What the periods would delete now; deletes nothing. */
export function usePreviewRetention(projectId: string) {
  return useMutation({
    mutationFn: (periods: Periods) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/retention/preview', {
          params: { path: path(projectId) },
          body: periods,
        }),
      ),
  });
}

export function usePlaceHold(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string; reason: string }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/holds', {
          params: { path: path(projectId) },
          body,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'hold') }),
  });
}

export function useLiftHold(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, reason }: { id: string; reason: string }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/holds/{hold_id}/lift', {
          params: { path: { ...path(projectId), hold_id: id } },
          body: { reason },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'hold') }),
  });
}
