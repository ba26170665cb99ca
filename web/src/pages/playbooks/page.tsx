/** Playbooks of the project: the library, and each of them in a drawer over it. */
import { BookOpenCheck } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'playbooks',
  title: 'Playbooks',
  icon: BookOpenCheck,
  section: 'automate',
  order: 10,
  minimumRole: 'runner',
  keywords: ['library', 'recipes', 'procedures', 'automation'],
  component: () => import('./PlaybooksPage'),
  item: 'playbookId',
  commands: [
    { label: 'Write a playbook', search: { dialog: 'write' }, minimumRole: 'editor' },
    { label: 'Import playbooks', search: { dialog: 'import' }, minimumRole: 'editor' },
  ],
});
