/** The chat: conversations about the project's data. */
import { t } from '@lingui/core/macro';
import { MessagesSquare } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'chat',
  title: t`Chat`,
  icon: MessagesSquare,
  section: 'ask',
  order: 10,
  minimumRole: 'viewer',
  keywords: t`ask, question, conversation, agent, assistant, plan`.split(', '),
  component: () => import('./ChatPage'),
  children: [{ path: '$threadId', component: () => import('./ChatPage') }],
});
