/** Records that mean the same person, company or thing, brought together. */
import { Combine } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'resolve',
  title: 'Match records',
  icon: Combine,
  section: 'data',
  order: 30,
  minimumRole: 'editor',
  keywords: ['entity resolution', 'duplicates', 'deduplicate', 'golden records', 'merge'],
  component: () => import('./ResolvePage'),
});
