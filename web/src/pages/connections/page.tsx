/** What the project may reach. */
import { t } from '@lingui/core/macro';
import { Cable } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'connections',
  title: t`Connections`,
  icon: Cable,
  section: 'automate',
  order: 60,
  minimumRole: 'viewer',
  keywords: t`databases, slack, mail, storage, MCP, servers, API`.split(', '),
  commands: [{ label: t`Add a connection`, search: { dialog: 'add' }, minimumRole: 'admin' }],
  component: () => import('./ConnectionsPage'),
});
