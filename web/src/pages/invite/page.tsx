/** Accepting an invitation. */
import { t } from '@lingui/core/macro';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'invite',
  title: t`Invitation`,
  component: () => import('./InvitePage'),
});
