/** Agents: composed by the project, with a library to start from. */
import { Bot } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'agents',
  title: 'Agents',
  icon: Bot,
  section: 'automate',
  order: 40,
  minimumRole: 'viewer',
  keywords: ['assistants', 'prompts', 'instructions', 'guardrails', 'handoffs', 'library'],
  component: () => import('./AgentsPage'),
  children: [{ path: '$agent', component: () => import('./AgentPage') }],
  commands: [{ label: 'Compose an agent', search: { dialog: 'compose' }, minimumRole: 'editor' }],
});
