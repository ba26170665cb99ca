/** The person's own settings. */
import { UserRound } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'account',
  path: 'profile',
  title: 'Profile',
  icon: UserRound,
  order: 10,
  keywords: ['password', 'name', 'language', 'locale', 'theme', 'sessions', 'sign out everywhere'],
  component: () => import('./ProfilePage'),
});
