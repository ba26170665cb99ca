/** Accepting an invitation. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'invite',
  title: 'Invitation',
  component: () => import('./InvitePage'),
});
