/** Blueprints: stories with a playbook to start from. */
import { t } from '@lingui/core/macro';
import { LayoutTemplate } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'blueprints',
  title: t`Blueprints`,
  icon: LayoutTemplate,
  section: 'automate',
  order: 30,
  minimumRole: 'viewer',
  keywords: t`templates, solutions, examples, catalogue`.split(', '),
  component: () => import('./BlueprintsPage'),
  children: [{ path: '$blueprintId', component: () => import('./BlueprintPage') }],
});
