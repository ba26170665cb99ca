/** People of the project. */
import { t } from '@lingui/core/macro';
import { Users } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'members',
  title: t`Members`,
  icon: Users,
  section: 'manage',
  order: 10,
  minimumRole: 'viewer',
  keywords: t`people, users, roles, invitations`.split(', '),
  commands: [{ label: t`Invite someone`, search: { dialog: 'invite' }, minimumRole: 'admin' }],
  component: () => import('./MembersPage'),
});
