/** Settings of the project. */
import { t } from '@lingui/core/macro';
import { Settings } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'settings',
  title: t`Settings`,
  icon: Settings,
  section: 'manage',
  order: 70,
  minimumRole: 'admin',
  keywords:
    t`rename, delete, project, single sign-on, SSO, two-step, network policy, firewall, retention, legal hold`.split(
      ', ',
    ),
  component: () => import('./SettingsPage'),
  children: [
    { path: 'sign-on', component: () => import('./SignOnPage') },
    { path: 'second-step', component: () => import('./SecondStepPage') },
    { path: 'network', component: () => import('./NetworkPage') },
    { path: 'retention', component: () => import('./RetentionPage') },
  ],
});
