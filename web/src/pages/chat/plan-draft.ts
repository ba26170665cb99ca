/** A plan while a person edits it: steps that are moved, added and taken out, and what the server says about each. */
import { t } from '@lingui/core/macro';
import type { Plan, PlanOptions, PlanStep } from '@/api/chat-types';
import type { FieldError } from '@/api/errors';
import type { FormValues } from '@/components/schema-form';
import { toolArguments, type ToolField, toolValues } from '@/components/tool-form';

/** `uid` stays the same wherever the step is moved to. */
export type DraftStep = PlanStep & { uid: string };

export interface Draft {
  goal: string;
  steps: DraftStep[];
}

export const MOST_STEPS = 12;

export function draftOf({ goal, steps }: Plan): Draft {
  return { goal, steps: steps.map((step) => ({ ...step, uid: step.id })) };
}

/** The plan that is sent: everything that is not edited stays as it was. */
export function planOf(draft: Draft, original: Plan): Plan {
  const steps = draft.steps.map(({ uid: _, ...step }) => step);
  return { ...original, goal: draft.goal, steps };
}

export function isChanged(draft: Draft, original: Plan): boolean {
  return JSON.stringify(planOf(draft, original)) !== JSON.stringify(original);
}

export function moved(steps: DraftStep[], from: number, by: -1 | 1): DraftStep[] {
  const step = steps[from];
  const to = from + by;
  if (!step || to < 0 || to >= steps.length) return steps;
  return steps.toSpliced(from, 1).toSpliced(to, 0, step);
}

/** Without a step; others no longer work on its result. What was to be found only there stays empty. */
export function without(steps: DraftStep[], index: number): DraftStep[] {
  const gone = steps[index]?.id;
  return steps.toSpliced(index, 1).map((step) => {
    const kept = { ...step, needs: step.needs.filter((id) => id !== gone) };
    if (!step.open) return kept;
    const open = Object.entries(step.open).flatMap(([name, sources]) => {
      const left = sources.filter((id) => id !== gone);
      return left.length > 0 || sources.length === 0 ? [[name, left] as const] : [];
    });
    return { ...kept, open: Object.fromEntries(open) };
  });
}

/** With a new step at the end, for the agent of the last one. */
export function withNew(steps: DraftStep[], options: PlanOptions): DraftStep[] {
  const taken = new Set(steps.map(({ id }) => id));
  let number = steps.length + 1;
  while (taken.has(`step_${number}`)) number += 1;
  const id = `step_${number}`;
  const agent = steps.at(-1)?.agent ?? options.agents[0]?.name ?? '';
  return [
    ...steps,
    {
      ...{ uid: `new-${id}`, id, title: '', agent, tools: [], fallback_tools: [], arguments: {} },
      ...{ needs: [], skill: null, reason: '', confidence: 1 },
    },
  ];
}

/** The step with another first tool: arguments that the new one does not know are dropped. */
export function withTool(step: DraftStep, tool: string, options: PlanOptions): DraftStep {
  const rest = step.tools.slice(1).filter((name) => name !== tool);
  const agents = options.agents.filter(({ tools }) => tools.includes(tool));
  const agent = agents.find(({ name }) => name === step.agent) ?? agents[0];
  const schema = options.tools.find(({ name }) => name === tool)?.arguments;
  const known = (schema?.properties ?? {}) as Record<string, unknown>;
  const kept = Object.entries(step.arguments).filter(([name]) => name in known);
  return {
    ...step,
    agent: agent?.name ?? step.agent,
    tools: [tool, ...rest.filter((name) => agent?.tools.includes(name) ?? true)],
    fallback_tools: step.fallback_tools.filter((name) => name !== tool),
    arguments: Object.fromEntries(kept),
    ...stillOpen(step, (name) => name in known),
  };
}

/** The step with other arguments: what a person gives is open no more. */
export function withArguments(step: DraftStep, given: Record<string, unknown>): DraftStep {
  return { ...step, arguments: given, ...stillOpen(step, (name) => !(name in given)) };
}

/** The step with an argument that is found on the way; what it was given is dropped. */
export function withOpen(step: DraftStep, name: string): DraftStep {
  const kept = Object.entries(step.arguments).filter(([given]) => given !== name);
  return {
    ...step,
    arguments: Object.fromEntries(kept),
    open: { ...step.open, [name]: [] },
  };
}

/** Where an open argument is found; it works on the results of those steps then. */
export function withFoundIn(step: DraftStep, name: string, sources: string[]): DraftStep {
  const needs = [...step.needs, ...sources.filter((id) => !step.needs.includes(id))];
  return { ...step, needs, open: { ...step.open, [name]: sources } };
}

export function withoutOpen(step: DraftStep, name: string): DraftStep {
  return { ...step, ...stillOpen(step, (each) => each !== name) };
}

function stillOpen(step: DraftStep, isOpen: (name: string) => boolean): Pick<DraftStep, 'open'> {
  if (!step.open) return {};
  return { open: Object.fromEntries(Object.entries(step.open).filter(([name]) => isOpen(name))) };
}

/** Arguments of a plan may be left open, so nothing is required and no default is written down. */
export function argumentsIn(
  fields: ToolField[],
  values: FormValues,
  given: Record<string, unknown>,
): { arguments: Record<string, unknown>; problems: Record<string, string> } {
  const open = fields.map((item) => ({ ...item, field: { ...item.field, required: false } }));
  const before = toolValues(fields, given);
  const isUntouched = (name: string) =>
    JSON.stringify(values[name]) === JSON.stringify(before[name]);
  const touched = open.filter(({ field }) => !isUntouched(field.name));
  const filled = toolArguments(touched, values);
  if (filled.problems !== null) return { arguments: given, problems: filled.problems };
  const names = new Set(touched.map(({ field }) => field.name));
  const kept = Object.entries(given).filter(([name]) => !names.has(name));
  return { arguments: { ...Object.fromEntries(kept), ...filled.arguments }, problems: {} };
}

/** What is wrong with one step: by field, by argument, and the rest in words. */
export interface StepProblems {
  fields: Record<string, string>;
  arguments: Record<string, string>;
  /** About what is found on the way, by argument. */
  open: Record<string, string>;
  others: string[];
}

export interface PlanProblems {
  steps: Record<number, StepProblems>;
  /** What no step is to blame for. */
  others: string[];
}

const FIELDS = new Set(['title', 'reason', 'agent', 'tools', 'fallback_tools', 'needs']);

/** The server's problems, sorted to where they are shown. */
export function problemsAt(errors: FieldError[]): PlanProblems {
  const found: PlanProblems = { steps: {}, others: [] };
  for (const { pointer, message } of errors) {
    const [, , index, field = '', name = '', ...rest] = pointer.split('/').filter(Boolean);
    const deeper = rest.filter((part) => !/^\d+$/.test(part));
    const number = Number(index);
    if (!pointer.startsWith('/plan/steps/') || !Number.isInteger(number)) {
      found.others.push(message);
      continue;
    }
    const step = (found.steps[number] ??= { fields: {}, arguments: {}, open: {}, others: [] });
    if (field === 'arguments' && name !== '') {
      step.arguments[name] ??= deeper.length > 0 ? `${deeper.join('.')}: ${message}` : message;
    } else if (field === 'open' && name !== '') step.open[name] ??= message;
    else if (FIELDS.has(field)) step.fields[field] ??= message;
    else step.others.push(field === '' ? message : `${field}: ${message}`);
  }
  return found;
}

/** What can be said before anything is sent. */
export function problemsIn({ goal, steps }: Draft): FieldError[] {
  const found: FieldError[] = [];
  if (goal.trim() === '') found.push({ pointer: '/plan/goal', message: t`A plan has a goal.` });
  if (steps.length === 0) {
    found.push({ pointer: '/plan/steps', message: t`A plan has at least one step; or reject it.` });
  }
  const earlier = new Set<string>();
  const titleOf = (id: string) => steps.find((step) => step.id === id)?.title ?? id;
  for (const [index, { id, title, needs, open = {} }] of steps.entries()) {
    if (title.trim() === '') {
      found.push({ pointer: `/plan/steps/${index}/title`, message: t`Say what is done.` });
    }
    const later = needs.find((need) => !earlier.has(need));
    if (later !== undefined) {
      const message = t`"${titleOf(later)}" comes later: move it up, or take it out here.`;
      found.push({ pointer: `/plan/steps/${index}/needs`, message });
    }
    for (const [name, sources] of Object.entries(open)) {
      const other = sources.find((source) => !needs.includes(source));
      if (other === undefined) continue;
      const message = t`The step does not work on "${titleOf(other)}": add it below, or take it out here.`;
      found.push({ pointer: `/plan/steps/${index}/open/${name}`, message });
    }
    earlier.add(id);
  }
  return found;
}
