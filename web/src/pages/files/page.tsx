/** Files of the project. */
import { FileSpreadsheet } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'files',
  title: 'Files',
  icon: FileSpreadsheet,
  section: 'work',
  order: 20,
  minimumRole: 'viewer',
  keywords: ['data', 'csv', 'download'],
  component: () => import('./FilesPage'),
  children: [{ path: '$fileId', component: () => import('./FilePage') }],
});
