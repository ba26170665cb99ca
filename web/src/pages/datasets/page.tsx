/** Datasets of the project. */
import { Table2 } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'datasets',
  title: 'Datasets',
  icon: Table2,
  section: 'data',
  order: 10,
  minimumRole: 'viewer',
  keywords: ['data', 'tables', 'upload', 'csv', 'database'],
  component: () => import('./DatasetsPage'),
  children: [{ path: '$dataset', component: () => import('../dataset/DatasetPage') }],
  commands: [{ label: 'Load files', search: { dialog: 'upload' }, minimumRole: 'editor' }],
});
