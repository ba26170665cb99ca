/** The chat: conversations about the project's data. */
import { MessagesSquare } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'chat',
  title: 'Chat',
  icon: MessagesSquare,
  section: 'ask',
  order: 10,
  minimumRole: 'viewer',
  keywords: ['ask', 'question', 'conversation', 'agent', 'assistant', 'plan'],
  component: () => import('./ChatPage'),
  children: [{ path: '$threadId', component: () => import('./ChatPage') }],
});
