/** The project at a glance. */
import { House } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: '',
  title: 'Home',
  icon: House,
  section: 'home',
  order: 10,
  minimumRole: 'viewer',
  keywords: ['overview', 'start'],
  component: () => import('./HomePage'),
});
