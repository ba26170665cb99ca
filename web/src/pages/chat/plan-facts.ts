/** What is to be known about the plans of a turn: who made them, how far they are. */
import { t } from '@lingui/core/macro';
import { BookOpenCheck, LifeBuoy, type LucideIcon, Sparkles, UserRound } from 'lucide-react';
import type { MadeBy, PlanStep, Turn, TurnPlan, TurnStep } from '@/api/chat-types';

export const MAKERS: Record<MadeBy, { word: string; icon: LucideIcon; title: string }> = {
  model: {
    word: t`Planned by a model`,
    icon: Sparkles,
    title: t`A model proposed it; it was checked`,
  },
  rules: { word: t`Planned by rules`, icon: BookOpenCheck, title: t`Made without a model` },
  fallback: {
    word: t`Fallback plan`,
    icon: LifeBuoy,
    title: t`What the model proposed did not hold; rules made this one`,
  },
  person: { word: t`From a recipe`, icon: UserRound, title: t`A person chose it ready-made` },
};

export function stepsOf({ steps }: Turn, { branch }: TurnPlan): TurnStep[] {
  return steps.filter((step) => step.branch === branch);
}

/** A step with everything that it works on, directly or not. */
export function neededFor(id: string, steps: PlanStep[]): ReadonlySet<string> {
  const found = new Set([id]);
  // Steps name earlier ones only.
  for (const step of steps.toReversed()) {
    if (found.has(step.id)) step.needs.forEach((need) => found.add(need));
  }
  return found;
}

/** A step with everything that works on it, directly or not: without it they cannot be done. */
export function dependingOn(id: string, steps: PlanStep[]): ReadonlySet<string> {
  const found = new Set([id]);
  for (const step of steps) {
    if (step.needs.some((need) => found.has(need))) found.add(step.id);
  }
  return found;
}

const ENDED = new Set(['done', 'skipped', 'rolled_back']);

/** Per cent of the steps that need nothing more, rounded down. */
export function completionOf(steps: TurnStep[]): number {
  if (steps.length === 0) return 0;
  const ended = steps.filter(({ status }) => ENDED.has(status)).length;
  return Math.floor((ended / steps.length) * 100);
}

/** What a step finds on the way, each with the steps in whose results it is. */
export function foundIn(open: Record<string, string[]> = {}): string {
  return Object.entries(open)
    .map(([name, steps]) => (steps.length > 0 ? t`${name} in ${steps.join(', ')}` : name))
    .join('; ');
}
