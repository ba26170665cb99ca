/** The console: SQL, query plans and Python over the project's datasets. */
import { t } from '@lingui/core/macro';
import { SquareTerminal } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'console',
  title: t`Console`,
  icon: SquareTerminal,
  section: 'ask',
  order: 20,
  minimumRole: 'operator',
  keywords: t`SQL, query, Python, plan, notebook`.split(', '),
  component: () => import('./ConsolePage'),
});
