/** Schedules: flows that start by themselves. */
import { CalendarClock } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'schedules',
  title: 'Schedules',
  icon: CalendarClock,
  section: 'automate',
  order: 90,
  minimumRole: 'viewer',
  keywords: ['cron', 'nightly', 'recurring'],
  component: () => import('./SchedulesPage'),
  commands: [{ label: 'Create a schedule', search: { dialog: 'create' }, minimumRole: 'editor' }],
});
