/** Runs of the project: the list and each of them. */
import { t } from '@lingui/core/macro';
import { Play } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'runs',
  title: t`Runs`,
  icon: Play,
  section: 'watch',
  order: 20,
  minimumRole: 'runner',
  keywords: t`jobs, flows, tools, journal`.split(', '),
  component: () => import('./RunsPage'),
  children: [{ path: '$runId', component: () => import('../run/RunPage') }],
  commands: [{ label: t`Start a run`, search: { dialog: 'start' }, minimumRole: 'operator' }],
});
