/** Triggers: what starts playbooks by itself, with every event. */
import { Zap } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'triggers',
  title: 'Triggers',
  icon: Zap,
  section: 'automate',
  order: 80,
  minimumRole: 'viewer',
  keywords: ['webhook', 'event', 'inbox', 'replay', 'dead letter', 'cron', 'form'],
  component: () => import('./TriggersPage'),
});
