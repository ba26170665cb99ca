/** Secrets of the project. */
import { LockKeyhole } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'secrets',
  title: 'Secrets',
  icon: LockKeyhole,
  section: 'manage',
  order: 40,
  minimumRole: 'editor',
  keywords: ['passwords', 'credentials', 'keys'],
  commands: [{ label: 'Set a secret', search: { dialog: 'set' }, minimumRole: 'admin' }],
  component: () => import('./SecretsPage'),
});
