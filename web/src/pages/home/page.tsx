/** The project at a glance. */
import { t } from '@lingui/core/macro';
import { House } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: '',
  title: t`Home`,
  icon: House,
  section: 'home',
  order: 10,
  minimumRole: 'viewer',
  keywords: t`overview, start`.split(', '),
  component: () => import('./HomePage'),
});
