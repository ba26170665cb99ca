/** Datasets of the project. */
import { t } from '@lingui/core/macro';
import { Table2 } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'datasets',
  title: t`Datasets`,
  icon: Table2,
  section: 'data',
  order: 10,
  minimumRole: 'viewer',
  keywords: t`data, tables, upload, csv, database`.split(', '),
  component: () => import('./DatasetsPage'),
  children: [{ path: '$dataset', component: () => import('../dataset/DatasetPage') }],
  commands: [{ label: t`Load files`, search: { dialog: 'upload' }, minimumRole: 'editor' }],
});
