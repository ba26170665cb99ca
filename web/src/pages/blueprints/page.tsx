/** Blueprints: stories with a playbook to start from. */
import { LayoutTemplate } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'blueprints',
  title: 'Blueprints',
  icon: LayoutTemplate,
  section: 'automate',
  order: 30,
  minimumRole: 'viewer',
  keywords: ['templates', 'solutions', 'examples', 'catalogue'],
  component: () => import('./BlueprintsPage'),
  children: [{ path: '$blueprintId', component: () => import('./BlueprintPage') }],
});
