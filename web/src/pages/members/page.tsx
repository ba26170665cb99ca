/** People of the project. */
import { Users } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'members',
  title: 'Members',
  icon: Users,
  section: 'manage',
  order: 10,
  minimumRole: 'viewer',
  keywords: ['people', 'users', 'roles', 'invitations'],
  commands: [{ label: 'Invite someone', search: { dialog: 'invite' }, minimumRole: 'admin' }],
  component: () => import('./MembersPage'),
});
