/** Secrets of the project. */
import { t } from '@lingui/core/macro';
import { LockKeyhole } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'secrets',
  title: t`Secrets`,
  icon: LockKeyhole,
  section: 'manage',
  order: 40,
  minimumRole: 'editor',
  keywords: t`passwords, credentials, keys`.split(', '),
  commands: [{ label: t`Set a secret`, search: { dialog: 'set' }, minimumRole: 'admin' }],
  component: () => import('./SecretsPage'),
});
