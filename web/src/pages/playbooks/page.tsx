/** Playbooks of the project: the library, and each of them in a drawer over it. */
import { t } from '@lingui/core/macro';
import { BookOpenCheck } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'playbooks',
  title: t`Playbooks`,
  icon: BookOpenCheck,
  section: 'automate',
  order: 10,
  minimumRole: 'runner',
  keywords: t`library, recipes, procedures, automation`.split(', '),
  component: () => import('./PlaybooksPage'),
  item: 'playbookId',
  commands: [
    { label: t`Write a playbook`, search: { dialog: 'write' }, minimumRole: 'editor' },
    { label: t`Import playbooks`, search: { dialog: 'import' }, minimumRole: 'editor' },
  ],
});
