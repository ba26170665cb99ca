/** A form for people without an account, by a signed link. */
import { t } from '@lingui/core/macro';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'form',
  title: t`Form`,
  component: () => import('./FormPage'),
});
