/** Two-step sign-in of the signed-in person: a code of an app after the password. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { meKey } from './keys';

const key = ['me', 'two-step'] as const;

export const twoStepQuery = queryOptions({
  queryKey: key,
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/two-step', { signal })),
});

export function useBeginTwoStep() {
  return useMutation({
    mutationFn: (password: string) =>
      bodyOf(api.POST('/api/v1/me/two-step', { body: { password } })),
  });
}

export function useConfirmTwoStep() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (code: string) =>
      bodyOf(api.POST('/api/v1/me/two-step/confirm', { body: { code } })),
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
  });
}

export function useRenewRecoveryCodes() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (code: string) =>
      bodyOf(api.POST('/api/v1/me/two-step/recovery-codes', { body: { code } })),
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
  });
}

export function useTurnTwoStepOff() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (code: string) => api.POST('/api/v1/me/two-step/off', { body: { code } }),
    // All of the profile: where the organisation requires a second step, it is due again at once.
    onSuccess: () => client.invalidateQueries({ queryKey: meKey }),
  });
}
