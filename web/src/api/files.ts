/** Files of a project: list, preview and download address. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';

export function filesQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'file'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/files', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export function previewQuery(projectId: string, fileId: string, limit: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'file', fileId, 'preview', limit),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/files/{file_id}/preview', {
          params: { path: { project_id: projectId, file_id: fileId }, query: { limit } },
          signal,
        }),
      ),
  });
}

export function downloadAddress(projectId: string, fileId: string): string {
  const [project, file] = [projectId, fileId].map(encodeURIComponent);
  return `/api/v1/projects/${project}/files/${file}/content`;
}
