/** Agents: composed by the project, with a library to start from. */
import { t } from '@lingui/core/macro';
import { Bot } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'agents',
  title: t`Agents`,
  icon: Bot,
  section: 'automate',
  order: 40,
  minimumRole: 'viewer',
  keywords: t`assistants, prompts, instructions, guardrails, handoffs, library`.split(', '),
  component: () => import('./AgentsPage'),
  children: [{ path: '$agent', component: () => import('./AgentPage') }],
  commands: [{ label: t`Compose an agent`, search: { dialog: 'compose' }, minimumRole: 'editor' }],
});
