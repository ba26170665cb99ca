/** Notifications of the signed-in user in a project. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { Notification, NotificationPage } from './types';

export function notificationsQuery(projectId: string) {
  return listQuery<Notification, NotificationPage>(
    projectKey(projectId, 'notification'),
    (query, signal) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/notifications', {
          params: { path: { project_id: projectId }, query },
          signal,
        }),
      ),
  );
}

export type WhichNotifications = { ids: string[] } | { all: true };

export function useMarkRead(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: WhichNotifications) =>
      api.POST('/api/v1/projects/{project_id}/notifications/read', {
        params: { path: { project_id: projectId } },
        body,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'notification') }),
  });
}
