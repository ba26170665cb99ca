/** What came of a sign-in, in words; the server tells it by a code, so that nobody can put words into a link. */
import { t } from '@lingui/core/macro';

const WORDS: Record<string, string> = {
  'wrong-state': t`This sign-in has expired or was already used. Start it again.`,
  'wrong-person': t`Somebody else started this sign-in. Start your own.`,
  'wrong-issuer': t`The answer came from another authorization server than the one that was asked. Nothing was kept.`,
  'not-signed-in': t`The authorization server did not agree. Start again, and allow the access.`,
  'no-token': t`The authorization server gave no token. Start the sign-in again.`,
  'too-late': t`It took longer than ten minutes. Start it again.`,
  timeout: t`The authorization server took too long to answer. Start the sign-in again.`,
};

export function outcomeWords(code: string): string {
  return WORDS[code] ?? t`It did not work. Start the sign-in again.`;
}
