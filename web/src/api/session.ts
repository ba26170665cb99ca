/** Who is signed in: the session query and the ways in and out. */
import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { api, bodyOf, hasCsrfToken, rememberCsrfToken, reportSignedOut } from './client';
import { ApiError } from './errors';
import { sessionKey } from './keys';
import type { Session } from './types';

function keep(session: Session): Session {
  rememberCsrfToken(session.csrf_token);
  return session;
}

/** Null for a visitor; a session that ends while the page is open is reported instead. */
async function fetchSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return keep(await bodyOf(api.GET('/api/v1/session', { signal })));
  } catch (error) {
    const signedOut = error instanceof ApiError && error.status === 401;
    if (signedOut && !hasCsrfToken()) return null;
    if (signedOut) reportSignedOut();
    throw error;
  }
}

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => fetchSession(signal),
  staleTime: 5 * 60_000,
});

/** The session of a page behind the sign-in; such pages are only shown when there is one. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data) throw new Error('This part of the page needs a signed-in user.');
  return data;
}

export type Credentials = { email: string; password: string; code?: string } | { link: string };

export interface SignUp {
  token: string;
  name: string;
  email: string;
  password: string;
}

/** Someone else may have been signed in before: nothing fetched for them is kept. */
export function useStartSession() {
  const client = useQueryClient();
  return (session: Session) => {
    client.clear();
    client.setQueryData(sessionKey, keep(session));
  };
}

export function useSignIn() {
  const start = useStartSession();
  return useMutation({
    mutationFn: (credentials: Credentials) =>
      bodyOf(api.POST('/api/v1/session', { body: credentials })),
    onSuccess: start,
  });
}

/** Accepts an invitation with a new account. */
export function useSignUp() {
  const start = useStartSession();
  return useMutation({
    mutationFn: (body: SignUp) => bodyOf(api.POST('/api/v1/invitations/accept', { body })),
    onSuccess: start,
  });
}

/** Accepts an invitation with the account one is signed in with. */
export function useJoin() {
  const start = useStartSession();
  return useMutation({
    mutationFn: (token: string) =>
      bodyOf(api.POST('/api/v1/invitations/join', { body: { token } })),
    onSuccess: start,
  });
}

export function useSignOut() {
  return useMutation({ mutationFn: () => api.DELETE('/api/v1/session') });
}
