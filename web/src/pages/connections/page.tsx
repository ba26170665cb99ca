/** What the project may reach. */
import { Cable } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'connections',
  title: 'Connections',
  icon: Cable,
  section: 'automate',
  order: 60,
  minimumRole: 'viewer',
  keywords: ['databases', 'slack', 'mail', 'storage', 'MCP', 'servers', 'API'],
  commands: [{ label: 'Add a connection', search: { dialog: 'add' }, minimumRole: 'admin' }],
  component: () => import('./ConnectionsPage'),
});
