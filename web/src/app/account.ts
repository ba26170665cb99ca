/** Things one does with one's account from several places. */
import { useSignOut } from '@/api/session';
import { showFailure } from '@/components/undo';

export const COLOUR_SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
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
