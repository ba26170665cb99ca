/** Reports about datasets, to read and to hand on. */
import { FileText } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'reports',
  title: 'Reports',
  icon: FileText,
  section: 'data',
  order: 60,
  minimumRole: 'viewer',
  keywords: ['pdf', 'html', 'print', 'excel'],
  component: () => import('./ReportsPage'),
  commands: [{ label: 'Write a report', search: { dialog: 'write' }, minimumRole: 'editor' }],
});
