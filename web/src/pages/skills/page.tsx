/** Skills: what the agents of the project know how to do. */
import { t } from '@lingui/core/macro';
import { GraduationCap } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'skills',
  title: t`Skills`,
  icon: GraduationCap,
  section: 'automate',
  order: 50,
  minimumRole: 'viewer',
  keywords: t`instructions, prompts, scripts, agents, SKILL.md`.split(', '),
  component: () => import('./SkillsPage'),
  children: [{ path: '$skill', component: () => import('./SkillPage') }],
  commands: [{ label: t`Write a skill`, search: { dialog: 'write' }, minimumRole: 'editor' }],
});
