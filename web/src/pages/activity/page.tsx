/** What happened in the project. */
import { History } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'activity',
  title: 'Activity',
  icon: History,
  section: 'watch',
  order: 30,
  minimumRole: 'viewer',
  keywords: ['events', 'log', 'history', 'audit'],
  component: () => import('./ActivityPage'),
});
