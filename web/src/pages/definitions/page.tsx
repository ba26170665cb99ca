/** Definitions: what columns, figures and words mean in the project. */
import { BookA } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'definitions',
  title: 'Definitions',
  icon: BookA,
  section: 'data',
  order: 40,
  minimumRole: 'viewer',
  keywords: ['semantic layer', 'metrics', 'measures', 'synonyms', 'glossary', 'units'],
  component: () => import('./DefinitionsPage'),
});
