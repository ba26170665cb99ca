/** The inbox: everything that waits for the signed-in person. */
import { t } from '@lingui/core/macro';
import { Inbox } from 'lucide-react';
import { InboxBadge } from '@/app/InboxBadge';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'inbox',
  title: t`Inbox`,
  icon: Inbox,
  section: 'home',
  order: 20,
  minimumRole: 'runner',
  keywords: t`approvals, questions, waiting`.split(', '),
  badge: InboxBadge,
  component: () => import('./InboxPage'),
});
