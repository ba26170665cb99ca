/** Setting up the second step that the organisation requires. */
import { t } from '@lingui/core/macro';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'second-step',
  title: t`Set up your second step`,
  component: () => import('./SecondStepPage'),
});
