/** What happened in the project. */
import { t } from '@lingui/core/macro';
import { History } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'activity',
  title: t`Activity`,
  icon: History,
  section: 'watch',
  order: 30,
  minimumRole: 'viewer',
  keywords: t`events, log, history, audit`.split(', '),
  component: () => import('./ActivityPage'),
});
