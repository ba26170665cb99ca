/** A program asks to act for the person. */
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'public',
  path: 'allow-client',
  title: 'Connect a program',
  component: () => import('./AllowClientPage'),
});
