/** What the policy decided about a call, in words. */
import { t } from '@lingui/core/macro';

export const OUTCOMES: Record<string, string> = {
  allow: t`Allowed`,
  dry_run: t`Allowed after a dry run`,
  ask: t`A person had to approve it`,
  deny: t`Denied`,
};
