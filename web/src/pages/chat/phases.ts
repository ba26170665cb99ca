/** Keys of a turn's journal in words. */
import type { Turn } from '@/api/chat-types';
import { stepOf } from './turn-events';

const PHASES: [RegExp, string][] = [
  [/^context$/, 'Gathered what is known'],
  [/^plan\/\d+\/review/, 'Review of the plan'],
  [/^plan\/\d+\/repair/, 'Asked the planner once more'],
  [/^plan\/\d+\/request/, 'Asked the planner'],
  [/^plan\/1$/, 'Planned'],
  [/^plan\/\d+$/, 'Planned again'],
  [/^answer\/request/, 'Asked a model for the answer'],
  [/^answer$/, 'Put the answer into words'],
  [/\/model\/\d+/, 'Asked a model'],
  [/\/deviation\/\d+/, 'Deviation'],
];

/** Null for what only keeps the books. */
export function phaseOf(key: string, tool: string | null, { steps }: Turn): string | null {
  const where = stepOf(key);
  const step = steps.find(({ branch, id }) => branch === where?.branch && id === where.id);
  const known = PHASES.find(([pattern]) => pattern.test(key))?.[1];
  const what = tool ?? known;
  if (what === undefined) return null;
  return step ? `${step.title}: ${what}` : what;
}
