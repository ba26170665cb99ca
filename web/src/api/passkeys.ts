/** Passkeys of the signed-in person, and signing in with one. */
import { t } from '@lingui/core/macro';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { meKey, sessionKey } from './keys';
import { useStartSession } from './session';

const key = ['me', 'passkeys'] as const;

/** Browsers know passkeys for names only, and on encrypted connections or one's own machine. */
export function arePasskeysPossible(): boolean {
  return (
    'PublicKeyCredential' in globalThis &&
    'parseCreationOptionsFromJSON' in PublicKeyCredential &&
    !/^[\d.]+$|^\[/.test(globalThis.location.hostname)
  );
}

export const passkeysQuery = queryOptions({
  queryKey: key,
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/passkeys', { signal })),
});

export function useAddPasskey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ name, password }: { name: string; password: string | null }) => {
      const { public_key: options } = await bodyOf(
        api.POST('/api/v1/me/passkeys/options', { body: { password } }),
      );
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
        options as unknown as PublicKeyCredentialCreationOptionsJSON,
      );
      const credential = await answered(navigator.credentials.create({ publicKey }));
      return bodyOf(api.POST('/api/v1/me/passkeys', { body: { name, credential } }));
    },
    // The session may have waited for a second step.
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: key }),
        client.invalidateQueries({ queryKey: sessionKey }),
      ]),
  });
}

export function useRemovePasskey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      api.DELETE('/api/v1/me/passkeys/{passkey_id}', { params: { path: { passkey_id: id } } }),
    // All of the profile: where the organisation requires a second step, it may be due again at once.
    onSettled: () => client.invalidateQueries({ queryKey: meKey }),
  });
}

export function usePasskeySignIn() {
  const start = useStartSession();
  return useMutation({
    mutationFn: async () => {
      const { public_key: options } = await bodyOf(api.POST('/api/v1/session/passkey/options'));
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
        options as unknown as PublicKeyCredentialRequestOptionsJSON,
      );
      const credential = await answered(navigator.credentials.get({ publicKey }));
      return bodyOf(api.POST('/api/v1/session/passkey', { body: { credential } }));
    },
    onSuccess: start,
  });
}

/** What the device says, for the server; or why it says nothing. */
async function answered(asked: Promise<Credential | null>): Promise<Record<string, unknown>> {
  try {
    const credential = (await asked) as PublicKeyCredential;
    return credential.toJSON() as Record<string, unknown>;
  } catch (error) {
    const known = error instanceof DOMException && error.name === 'InvalidStateError';
    throw new Error(
      known
        ? t`This device already holds a passkey for your account.`
        : t`The browser did not use a passkey: you cancelled, it took too long, or there is none for this address.`,
      { cause: error },
    );
  }
}
