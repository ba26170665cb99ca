/** Where the datasets come from. */
import { GitFork } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'lineage',
  title: 'Lineage',
  icon: GitFork,
  section: 'data',
  order: 50,
  minimumRole: 'viewer',
  keywords: ['provenance', 'origin', 'graph'],
  component: () => import('./LineagePage'),
});
