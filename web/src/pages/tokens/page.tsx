/** API tokens. */
import { t } from '@lingui/core/macro';
import { KeyRound } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'tokens',
  title: t`API tokens`,
  icon: KeyRound,
  section: 'manage',
  order: 30,
  minimumRole: 'viewer',
  keywords: t`keys, access, scripts`.split(', '),
  commands: [{ label: t`Create API token`, search: { dialog: 'create' } }],
  component: () => import('./TokensPage'),
});
