/** What happened in the project. */
import { History } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'activity',
  title: 'Activity',
  icon: History,
  section: 'work',
  order: 80,
  minimumRole: 'viewer',
  keywords: ['events', 'log', 'history', 'audit'],
  component: () => import('./ActivityPage'),
});
