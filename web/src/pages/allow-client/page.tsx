/** A program asks to act for the person. */
import { t } from '@lingui/core/macro';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'allow-client',
  title: t`Connect a program`,
  component: () => import('./AllowClientPage'),
});
