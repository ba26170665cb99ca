/** One file from people without an account, by a signed link. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'send',
  title: 'Send a file',
  component: () => import('./SendPage'),
});
