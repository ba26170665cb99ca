/** Schedules: flows that start by themselves. */
import { t } from '@lingui/core/macro';
import { CalendarClock } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'schedules',
  title: t`Schedules`,
  icon: CalendarClock,
  section: 'automate',
  order: 90,
  minimumRole: 'viewer',
  keywords: t`cron, nightly, recurring`.split(', '),
  component: () => import('./SchedulesPage'),
  commands: [{ label: t`Create a schedule`, search: { dialog: 'create' }, minimumRole: 'editor' }],
});
