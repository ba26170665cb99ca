/** Original files of the project. */
import { FileSpreadsheet } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'files',
  title: 'Files',
  icon: FileSpreadsheet,
  section: 'data',
  order: 70,
  minimumRole: 'viewer',
  keywords: ['originals', 'csv', 'download'],
  component: () => import('./FilesPage'),
});
