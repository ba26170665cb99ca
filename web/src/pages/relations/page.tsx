/** How the datasets of the project belong together. */
import { Waypoints } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'relations',
  title: 'Relations',
  icon: Waypoints,
  section: 'data',
  order: 20,
  minimumRole: 'viewer',
  keywords: ['keys', 'foreign keys', 'joins', 'graph'],
  component: () => import('./RelationsPage'),
});
