/** Services that describe themselves: found, installed, connected, called. */
import { t } from '@lingui/core/macro';
import { Blocks } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'catalogue',
  title: t`Catalogue`,
  icon: Blocks,
  section: 'automate',
  order: 70,
  minimumRole: 'viewer',
  keywords: t`services, connectors, integrations, API, AWS, Google, OpenAPI`.split(', '),
  commands: [
    {
      label: t`Install a service from a file or address`,
      search: { dialog: 'bring' },
      minimumRole: 'admin',
    },
  ],
  component: () => import('./CataloguePage'),
});
