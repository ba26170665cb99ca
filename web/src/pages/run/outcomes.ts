/** What the policy decided about a call, in words. */
export const OUTCOMES: Record<string, string> = {
  allow: 'Allowed',
  dry_run: 'Allowed after a dry run',
  ask: 'A person had to approve it',
  deny: 'Denied',
};
