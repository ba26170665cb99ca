/** Signing in. */
import { t } from '@lingui/core/macro';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'sign-in',
  title: t`Sign in`,
  component: () => import('./SignInPage'),
});
