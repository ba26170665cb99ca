/** The signed-in user's own record: name, formats and password. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Versioned, versionedBodyOf } from './client';
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
