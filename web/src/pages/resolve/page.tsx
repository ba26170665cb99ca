/** Records that mean the same person, company or thing, brought together. */
import { t } from '@lingui/core/macro';
import { Combine } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'resolve',
  title: t`Match records`,
  icon: Combine,
  section: 'data',
  order: 30,
  minimumRole: 'editor',
  keywords: t`entity resolution, duplicates, deduplicate, golden records, merge`.split(', '),
  component: () => import('./ResolvePage'),
});
