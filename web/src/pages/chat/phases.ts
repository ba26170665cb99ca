/** Keys of a turn's journal in words. */
import { t } from '@lingui/core/macro';
import type { Turn } from '@/api/chat-types';
import { stepOf } from './turn-events';

const PHASES: [RegExp, string][] = [
  [/^context$/, t`Gathered what is known`],
  [/^plan\/\d+\/review/, t`Review of the plan`],
  [/^plan\/\d+\/repair/, t`Asked the planner once more`],
  [/^plan\/\d+\/request/, t`Asked the planner`],
  [/^plan\/1$/, t`Planned`],
  [/^plan\/\d+$/, t`Planned again`],
  [/^answer\/request/, t`Asked a model for the answer`],
  [/^answer$/, t`Put the answer into words`],
  [/\/model\/\d+/, t`Asked a model`],
  [/\/deviation\/\d+/, t`Deviation`],
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
