/** What came of a sign-in, in words; the server tells it by a code, so that nobody can put words into a link. */
const WORDS: Record<string, string> = {
  'wrong-state': 'This sign-in has expired or was already used. Start it again.',
  'wrong-person': 'Somebody else started this sign-in. Start your own.',
  'wrong-issuer':
    'The answer came from another authorization server than the one that was asked. Nothing was kept.',
  'not-signed-in': 'The authorization server did not agree. Start again, and allow the access.',
  'no-token': 'The authorization server gave no token. Start the sign-in again.',
  'too-late': 'It took longer than ten minutes. Start it again.',
  timeout: 'The authorization server took too long to answer. Start the sign-in again.',
};

export function outcomeWords(code: string): string {
  return WORDS[code] ?? 'It did not work. Start the sign-in again.';
}
