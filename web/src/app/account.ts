/** What the account menu and the palette both offer. */
import { t } from '@lingui/core/macro';
import { useSignOut } from '@/api/session';
import { showFailure } from '@/components/undo';

export const COLOUR_SCHEMES = [
  { value: 'light', label: t`Light` },
  { value: 'dark', label: t`Dark` },
  { value: 'auto', label: t`System` },
] as const;

/** Signs out and leaves with a full page load, so that nothing stays in memory. */
export function useLeave() {
  const signOut = useSignOut();
  return () =>
    signOut.mutate(undefined, {
      onSuccess: () => globalThis.location.assign('/sign-in'),
      onError: showFailure,
    });
}

/** The guides and the reference of this version, in a tab of their own: what somebody does here stays as it is. */
export function openDocumentation() {
  globalThis.open('/docs/', '_blank', 'noopener');
}
