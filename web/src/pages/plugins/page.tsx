/** Plug-ins: packages that add tools, nodes, triggers, kinds of connections, guardrails and agents. */
import { t } from '@lingui/core/macro';
import { Puzzle } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'plugins',
  title: t`Plug-ins`,
  icon: Puzzle,
  section: 'manage',
  order: 60,
  minimumRole: 'admin',
  keywords: t`packages, extensions, custom nodes, wheels, add-ons`.split(', '),
  component: () => import('./PluginsPage'),
});
