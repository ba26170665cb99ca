/** What runs, waits, failed and cost lately. */
import { t } from '@lingui/core/macro';
import { Gauge } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'overview',
  title: t`Overview`,
  icon: Gauge,
  section: 'watch',
  order: 10,
  minimumRole: 'viewer',
  keywords: t`dashboard, costs, spend, tokens, errors, monitoring, metrics`.split(', '),
  component: () => import('./OverviewPage'),
  children: [
    { path: 'flow/$flow', component: () => import('./FlowDetailPage') },
    { path: 'connector/$connector', component: () => import('./ConnectorDetailPage') },
  ],
});
