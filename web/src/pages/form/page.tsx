/** A form for people without an account, by a signed link. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'form',
  title: 'Form',
  component: () => import('./FormPage'),
});
