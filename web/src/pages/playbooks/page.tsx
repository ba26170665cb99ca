/** Playbooks of the project: the library and each of them. */
import { BookOpenCheck } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'playbooks',
  title: 'Playbooks',
  icon: BookOpenCheck,
  section: 'work',
  order: 6,
  minimumRole: 'runner',
  keywords: ['library', 'recipes', 'procedures', 'automation'],
  component: () => import('./PlaybooksPage'),
  children: [{ path: '$playbookId', component: () => import('./PlaybookPage') }],
  commands: [{ label: 'Write a playbook', search: { dialog: 'write' }, minimumRole: 'editor' }],
});
