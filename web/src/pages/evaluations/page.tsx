/** Evaluations: reports of suites of cases, one by one and compared, and how planning goes. */
import { t } from '@lingui/core/macro';
import { ClipboardCheck } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'evaluations',
  title: t`Evaluations`,
  icon: ClipboardCheck,
  section: 'watch',
  order: 40,
  minimumRole: 'viewer',
  keywords: t`eval, tests, suites, regression, planner, measures`.split(', '),
  component: () => import('./EvaluationsPage'),
  children: [{ path: '$reportId', component: () => import('./ReportPage') }],
});
