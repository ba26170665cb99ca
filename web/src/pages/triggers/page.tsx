/** Triggers: what starts playbooks by itself, with every event. */
import { t } from '@lingui/core/macro';
import { Zap } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'triggers',
  title: t`Triggers`,
  icon: Zap,
  section: 'automate',
  order: 80,
  minimumRole: 'viewer',
  keywords: t`webhook, event, inbox, replay, dead letter, cron, form`.split(', '),
  component: () => import('./TriggersPage'),
});
