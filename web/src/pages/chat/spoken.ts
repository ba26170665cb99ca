/** What is said aloud about a turn. */
import { plural, t } from '@lingui/core/macro';
import type { Turn } from '@/api/chat-types';
import { statusLook } from '@/components/run-status';

const LONGEST = 600;

export function spokenOf(turn: Turn | undefined): string {
  if (!turn) return '';
  const { status, answer, error, plans } = turn;
  if (error) return t`It did not work: ${error.message}`;
  if (status === 'done') {
    const text = answer ?? t`Done`;
    return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  }
  const plan = plans.at(-1);
  if (plan?.review.state === 'waiting') return t`A plan waits for your approval`;
  if (status === 'running' && plan) {
    const { length } = plan.plan.steps;
    return plural(length, {
      one: `Working on a plan of ${length} step`,
      other: `Working on a plan of ${length} steps`,
    });
  }
  return statusLook(status).word;
}
