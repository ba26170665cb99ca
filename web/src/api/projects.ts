/** Projects: reading one with its version, creating, renaming, deleting and restoring. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, versionedBodyOf } from './client';
import { projectKey, sessionKey } from './keys';

export function projectQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'project'),
    queryFn: ({ signal }) =>
      versionedBodyOf(
        api.GET('/api/v1/projects/{project_id}', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

/** The session lists the projects one may open, so each change of a project refreshes it. */
function useRefreshProjects() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: sessionKey });
}

export function useCreateProject() {
  const refresh = useRefreshProjects();
  return useMutation({
    mutationFn: (name: string) => bodyOf(api.POST('/api/v1/projects', { body: { name } })),
    onSuccess: refresh,
  });
}

export function useRenameProject(projectId: string) {
  const client = useQueryClient();
  const refresh = useRefreshProjects();
  return useMutation({
    mutationFn: ({ name, etag }: { name: string; etag: string }) =>
      versionedBodyOf(
        api.PATCH('/api/v1/projects/{project_id}', {
          params: { path: { project_id: projectId }, header: { 'if-match': etag } },
          body: { name },
        }),
      ),
    onSuccess: (renamed) => {
      client.setQueryData(projectKey(projectId, 'project'), renamed);
      return refresh();
    },
  });
}

/** The caller leaves the project's pages and then calls `refresh`: until then they are about it. */
export function useDeleteProject() {
  const refresh = useRefreshProjects();
  const remove = useMutation({
    mutationFn: (projectId: string) =>
      api.DELETE('/api/v1/projects/{project_id}', { params: { path: { project_id: projectId } } }),
  });
  return { remove, refresh };
}

export function useRestoreProject() {
  const refresh = useRefreshProjects();
  return useMutation({
    mutationFn: (projectId: string) =>
      api.POST('/api/v1/projects/{project_id}/restore', {
        params: { path: { project_id: projectId } },
      }),
    onSuccess: refresh,
  });
}
