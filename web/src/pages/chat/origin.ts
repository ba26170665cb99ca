/** What the next message belongs to, when it is not the end of the conversation. */
import type { Turn } from '@/api/chat-types';

export interface Origin {
  /** `edit` puts the message in the place of the turn's, `branch` after the turn. */
  kind: 'edit' | 'branch';
  turn: Turn;
}

export function parentOf({ kind, turn }: Origin): string | null {
  return kind === 'edit' ? turn.parent : turn.run_id;
}
