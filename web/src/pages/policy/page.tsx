/** Policy: what runs may do, who approves, and why a call was decided as it was. */
import { Scale } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'policy',
  title: 'Policy',
  icon: Scale,
  section: 'manage',
  order: 50,
  minimumRole: 'viewer',
  keywords: ['rules', 'cedar', 'safe mode', 'approvers', 'permissions'],
  component: () => import('./PolicyPage'),
});
