/** Skills: what the agents of the project know how to do. */
import { GraduationCap } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'skills',
  title: 'Skills',
  icon: GraduationCap,
  section: 'automate',
  order: 50,
  minimumRole: 'viewer',
  keywords: ['instructions', 'prompts', 'scripts', 'agents', 'SKILL.md'],
  component: () => import('./SkillsPage'),
  children: [{ path: '$skill', component: () => import('./SkillPage') }],
  commands: [{ label: 'Write a skill', search: { dialog: 'write' }, minimumRole: 'editor' }],
});
