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
