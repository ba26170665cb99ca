/** Flows: playbooks as drawings, and the canvas on which one is drawn. */
import { t } from '@lingui/core/macro';
import { Workflow } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'flows',
  title: t`Flows`,
  icon: Workflow,
  section: 'automate',
  order: 20,
  minimumRole: 'viewer',
  keywords: t`canvas, draw, graph, automation, guide, wizard`.split(', '),
  component: () => import('./FlowsPage'),
  children: [
    { path: 'guide', component: () => import('./GuidePage') },
    { path: '$playbookId', component: () => import('./CanvasPage') },
    { path: '$playbookId/test', component: () => import('./testing/TestPage') },
    { path: '$playbookId/versions', component: () => import('./versions/VersionsPage') },
  ],
});
