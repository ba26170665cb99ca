/** The inbox: everything that waits for the signed-in person. */
import { Inbox } from 'lucide-react';
import { InboxBadge } from '@/app/InboxBadge';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'inbox',
  title: 'Inbox',
  icon: Inbox,
  section: 'home',
  order: 20,
  minimumRole: 'runner',
  keywords: ['approvals', 'questions', 'waiting'],
  badge: InboxBadge,
  component: () => import('./InboxPage'),
});
