/** Signing in. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'sign-in',
  title: 'Sign in',
  component: () => import('./SignInPage'),
});
