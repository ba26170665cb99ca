/** Where the datasets come from. */
import { t } from '@lingui/core/macro';
import { GitFork } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'lineage',
  title: t`Lineage`,
  icon: GitFork,
  section: 'data',
  order: 50,
  minimumRole: 'viewer',
  keywords: t`provenance, origin, graph`.split(', '),
  component: () => import('./LineagePage'),
});
