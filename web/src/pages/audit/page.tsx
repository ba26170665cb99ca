/** The audit view: what happened, searched, verified and exported. */
import { FileSearch } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'audit',
  title: 'Audit',
  icon: FileSearch,
  section: 'watch',
  order: 50,
  minimumRole: 'viewer',
  keywords: ['log', 'events', 'verify', 'journal', 'export'],
  component: () => import('./AuditPage'),
});
