/** How the datasets of the project belong together. */
import { t } from '@lingui/core/macro';
import { Waypoints } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'relations',
  title: t`Relations`,
  icon: Waypoints,
  section: 'data',
  order: 20,
  minimumRole: 'viewer',
  keywords: t`keys, foreign keys, joins, graph`.split(', '),
  component: () => import('./RelationsPage'),
});
