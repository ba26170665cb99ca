/** API tokens. */
import { KeyRound } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'tokens',
  title: 'API tokens',
  icon: KeyRound,
  section: 'manage',
  order: 30,
  minimumRole: 'viewer',
  keywords: ['keys', 'access', 'scripts'],
  commands: [{ label: 'Create API token', search: { dialog: 'create' } }],
  component: () => import('./TokensPage'),
});
