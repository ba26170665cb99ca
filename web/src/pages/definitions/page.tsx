/** Definitions: what columns, figures and words mean in the project. */
import { t } from '@lingui/core/macro';
import { BookA } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'definitions',
  title: t`Definitions`,
  icon: BookA,
  section: 'data',
  order: 40,
  minimumRole: 'viewer',
  keywords: t`semantic layer, metrics, measures, synonyms, glossary, units`.split(', '),
  component: () => import('./DefinitionsPage'),
});
