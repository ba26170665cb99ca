/** What a person changed about a plan, step by step. */
import { t } from '@lingui/core/macro';
import type { Plan, PlanStep } from '@/api/chat-types';
import { foundIn } from './plan-facts';

export interface FieldChange {
  field: string;
  before: string;
  after: string;
}

export interface PlanChanges {
  /** Steps that are there only since. */
  added: ReadonlySet<string>;
  /** Steps that were planned and are not done. */
  removed: PlanStep[];
  changed: ReadonlyMap<string, FieldChange[]>;
  /** Whether steps that were there before come in another order. */
  isReordered: boolean;
}

const NOTHING: PlanChanges = {
  added: new Set(),
  removed: [],
  changed: new Map(),
  isReordered: false,
};

const FIELDS = [
  ['title', t`Title`],
  ['agent', t`Agent`],
  ['tools', t`Tools`],
  ['fallback_tools', t`Fallback tools`],
  ['arguments', t`Arguments`],
  ['open', t`Found on the way`],
  ['needs', t`Works on`],
  ['reason', t`Reason`],
] as const;

export function changesOf(proposed: Plan | null, plan: Plan): PlanChanges {
  if (proposed === null) return NOTHING;
  const before = new Map(proposed.steps.map((step) => [step.id, step]));
  const after = new Set(plan.steps.map(({ id }) => id));
  const changed = plan.steps.flatMap((step) => {
    const fields = fieldChanges(before.get(step.id), step);
    return fields.length > 0 ? [[step.id, fields] as const] : [];
  });
  const kept = (steps: PlanStep[]) =>
    steps.map(({ id }) => id).filter((id) => before.has(id) && after.has(id));
  return {
    added: new Set(plan.steps.map(({ id }) => id).filter((id) => !before.has(id))),
    removed: proposed.steps.filter(({ id }) => !after.has(id)),
    changed: new Map(changed),
    isReordered: kept(proposed.steps).join() !== kept(plan.steps).join(),
  };
}

function fieldChanges(before: PlanStep | undefined, after: PlanStep): FieldChange[] {
  if (!before) return [];
  return FIELDS.flatMap(([name, field]) => {
    if (name === 'arguments') return argumentChanges(before.arguments, after.arguments);
    const told = (step: PlanStep) => (name === 'open' ? foundIn(step.open) : words(step[name]));
    const [from, to] = [told(before), told(after)];
    return from === to ? [] : [{ field, before: from, after: to }];
  });
}

function argumentChanges(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [from, to] = [words(before[name]), words(after[name])];
    return from === to ? [] : [{ field: name, before: from, after: to }];
  });
}

function words(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.join(', ');
  }
  return JSON.stringify(value);
}
