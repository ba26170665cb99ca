/** Runs of the project: the list and each of them. */
import { Play } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'runs',
  title: 'Runs',
  icon: Play,
  section: 'watch',
  order: 20,
  minimumRole: 'runner',
  keywords: ['jobs', 'flows', 'tools', 'journal'],
  component: () => import('./RunsPage'),
  children: [{ path: '$runId', component: () => import('../run/RunPage') }],
  commands: [{ label: 'Start a run', search: { dialog: 'start' }, minimumRole: 'operator' }],
});
