/** Policy: what runs may do, who approves, and why a call was decided as it was. */
import { t } from '@lingui/core/macro';
import { Scale } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'policy',
  title: t`Policy`,
  icon: Scale,
  section: 'manage',
  order: 50,
  minimumRole: 'viewer',
  keywords: t`rules, cedar, safe mode, approvers, permissions`.split(', '),
  component: () => import('./PolicyPage'),
});
