/** The audit view: what happened, searched, verified and exported. */
import { t } from '@lingui/core/macro';
import { FileSearch } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'audit',
  title: t`Audit`,
  icon: FileSearch,
  section: 'watch',
  order: 50,
  minimumRole: 'viewer',
  keywords: t`log, events, verify, journal, export`.split(', '),
  component: () => import('./AuditPage'),
});
