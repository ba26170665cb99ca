/** People of a project, and the invitations that bring more of them in. */
import { queryOptions, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { itemsOf, listQuery } from './lists';
import { useSession } from './session';
import type { Role } from './types';

export function membersQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'member'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/members', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

/** Answers name people by id; this says who that is, or null for someone who has left. */
export function usePersonName(projectId: string): (userId: string) => string | null {
  const { user, projects } = useSession();
  // A runner knows nobody here but themselves.
  const mayList = projects.some(({ id, role }) => id === projectId && role !== 'runner');
  const { data } = useInfiniteQuery({ ...membersQuery(projectId), enabled: mayList });
  const names = new Map(itemsOf(data).map(({ user_id, name }) => [user_id, name]));
  names.set(user.id, user.name);
  return (userId) => names.get(userId) ?? null;
}

export function useSetMemberRole(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: Role }) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/members/{user_id}', {
          params: { path: { project_id: projectId, user_id: userId } },
          body: { role },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'member') }),
  });
}

export function useRemoveMember(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (userId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/members/{user_id}', {
        params: { path: { project_id: projectId, user_id: userId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'member') }),
  });
}

export function invitationsQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'invitation'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/invitations', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export interface NewInvitation {
  role: Role;
  email?: string;
  expires_in_days: number;
  playbook?: string;
}

export function useInvite(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewInvitation) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/invitations', {
          params: { path: { project_id: projectId } },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'invitation') }),
  });
}

export function useRevokeInvitation(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (invitationId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/invitations/{invitation_id}', {
        params: { path: { project_id: projectId, invitation_id: invitationId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'invitation') }),
  });
}

/** What an invitation link offers; anyone who holds the link may ask. */
export function invitationQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: () => bodyOf(api.POST('/api/v1/invitations/lookup', { body: { token } })),
    retry: false,
  });
}
