/** Services that describe themselves: found, installed, connected, called. */
import { Blocks } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'catalogue',
  title: 'Catalogue',
  icon: Blocks,
  section: 'automate',
  order: 70,
  minimumRole: 'viewer',
  keywords: ['services', 'connectors', 'integrations', 'API', 'AWS', 'Google', 'OpenAPI'],
  commands: [
    {
      label: 'Install a service from a file or address',
      search: { dialog: 'bring' },
      minimumRole: 'admin',
    },
  ],
  component: () => import('./CataloguePage'),
});
