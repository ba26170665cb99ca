/** The person's own settings. */
import { t } from '@lingui/core/macro';
import { UserRound } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'account',
  path: 'profile',
  title: t`Profile`,
  icon: UserRound,
  order: 10,
  keywords: t`password, name, language, locale, theme, sessions, sign out everywhere`.split(', '),
  component: () => import('./ProfilePage'),
});
