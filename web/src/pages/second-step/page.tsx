/** Setting up the second step that the organisation requires. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'second-step',
  title: 'Set up your second step',
  component: () => import('./SecondStepPage'),
});
