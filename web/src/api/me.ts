/** The signed-in user's own record: name, formats and password; and where they are signed in. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, type Versioned, versionedBodyOf } from './client';
import { meKey, sessionKey } from './keys';
import type { User } from './types';

export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: ({ signal }) => versionedBodyOf(api.GET('/api/v1/me', { signal })),
});

export interface UserChange {
  name?: string;
  locale?: string | null;
}

export function useChangeMe() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      etag,
      change,
    }: {
      etag: string;
      change: UserChange;
    }): Promise<Versioned<User>> =>
      versionedBodyOf(
        api.PATCH('/api/v1/me', { params: { header: { 'if-match': etag } }, body: change }),
      ),
    onSuccess: (changed) => {
      client.setQueryData(meKey, changed);
      return client.invalidateQueries({ queryKey: sessionKey });
    },
  });
}

export function useChangePassword() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { current_password?: string; new_password: string }) =>
      api.PUT('/api/v1/me/password', { body }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: sessionKey }),
        client.invalidateQueries({ queryKey: meKey }),
      ]),
  });
}

const sessionsKey = ['me', 'sessions'] as const;

export const sessionsQuery = queryOptions({
  queryKey: sessionsKey,
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/sessions', { signal })),
});

export function useEndSession() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (sessionId: string) =>
      api.DELETE('/api/v1/me/sessions/{session_id}', {
        params: { path: { session_id: sessionId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsKey }),
  });
}

export function useEndOtherSessions() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE('/api/v1/me/sessions'),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsKey }),
  });
}
