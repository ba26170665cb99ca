/** Reports about datasets, to read and to hand on. */
import { t } from '@lingui/core/macro';
import { FileText } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'reports',
  title: t`Reports`,
  icon: FileText,
  section: 'data',
  order: 60,
  minimumRole: 'viewer',
  keywords: t`pdf, html, print, excel`.split(', '),
  component: () => import('./ReportsPage'),
  commands: [{ label: t`Write a report`, search: { dialog: 'write' }, minimumRole: 'editor' }],
});
