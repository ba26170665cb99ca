/** The console: SQL, query plans and Python over the project's datasets. */
import { SquareTerminal } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'console',
  title: 'Console',
  icon: SquareTerminal,
  section: 'ask',
  order: 20,
  minimumRole: 'operator',
  keywords: ['SQL', 'query', 'Python', 'plan', 'notebook'],
  component: () => import('./ConsolePage'),
});
