/** Original files of the project. */
import { t } from '@lingui/core/macro';
import { FileSpreadsheet } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'files',
  title: t`Files`,
  icon: FileSpreadsheet,
  section: 'data',
  order: 70,
  minimumRole: 'viewer',
  keywords: t`originals, csv, download`.split(', '),
  component: () => import('./FilesPage'),
});
