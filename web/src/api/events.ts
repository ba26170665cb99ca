/** The event log of a project. */
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';

export function eventsQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'event'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/events', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

/** Where the browser fetches the whole event log. */
export function exportAddress(projectId: string, format: 'jsonl' | 'cef'): string {
  const query = new URLSearchParams({ format });
  return `/api/v1/projects/${encodeURIComponent(projectId)}/events/export?${query}`;
}
