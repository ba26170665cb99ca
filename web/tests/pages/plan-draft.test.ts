import { describe, expect, it } from 'vitest';
import type { Plan, PlanOptions, PlanStep } from '@/api/chat-types';
import { toolFieldsOf, toolValues } from '@/components/tool-form';
import { changesOf } from '@/pages/chat/plan-changes';
import {
  argumentsIn,
  draftOf,
  isChanged,
  moved,
  planOf,
  problemsAt,
  problemsIn,
  without,
  withArguments,
  withFoundIn,
  withNew,
  withOpen,
  withoutOpen,
  withTool,
} from '@/pages/chat/plan-draft';
import { neededFor } from '@/pages/chat/plan-facts';

const step = (id: string, change: Partial<PlanStep> = {}): PlanStep => ({
  ...{ id, title: `Do ${id}`, agent: 'data-analyst', tools: ['preview'], fallback_tools: [] },
  ...{ arguments: { dataset: 'orders' }, needs: [], skill: null, reason: '', confidence: 0.5 },
  ...change,
});
const plan: Plan = {
  goal: 'Know more',
  notes: '',
  steps: [step('look'), step('count', { needs: ['look'] }), step('draw', { needs: ['count'] })],
};
const schema = {
  type: 'object',
  properties: {
    dataset: { type: 'string', maxLength: 200 },
    limit: { type: 'integer', default: 50, minimum: 1 },
    chart: { $ref: '#/$defs/Chart' },
  },
  required: ['dataset'],
};
const tool = (name: string, properties = schema) => ({
  ...{ name, title: name, description: '', risk: 'read', arguments: properties },
});
const options: PlanOptions = {
  agents: [
    { name: 'data-analyst', title: 'Analyst', description: '', tools: ['preview'] },
    { name: 'data-engineer', title: 'Engineer', description: '', tools: ['preview', 'clean'] },
  ],
  tools: [tool('preview'), tool('clean', { ...schema, properties: { ...schema.properties } })],
  skills: {},
};

describe('a plan that is edited', () => {
  it('goes back as it came when nothing was changed', () => {
    const kept = { ...plan, format: 1 } as Plan;
    expect(planOf(draftOf(kept), kept)).toEqual(kept);
    expect(isChanged(draftOf(kept), kept)).toBe(false);
  });

  it('moves steps, and says when one comes before what it works on', () => {
    const draft = draftOf(plan);
    const steps = moved(draft.steps, 0, 1);
    expect(steps.map(({ id }) => id)).toEqual(['count', 'look', 'draw']);
    expect(moved(draft.steps, 0, -1)).toEqual(draft.steps);
    expect(problemsIn({ ...draft, steps })).toEqual([
      {
        pointer: '/plan/steps/0/needs',
        message: '"Do look" comes later: move it up, or take it out here.',
      },
    ]);
    expect(problemsIn(draft)).toEqual([]);
  });

  it('takes a step out of what others work on', () => {
    const steps = without(draftOf(plan).steps, 1);
    expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
      ['look', []],
      ['draw', []],
    ]);
  });

  it('adds a step under a free name, which needs a title', () => {
    const steps = withNew(draftOf({ ...plan, steps: [step('step_2')] }).steps, options);
    expect(steps.at(-1)).toMatchObject({ id: 'step_3', agent: 'data-analyst', tools: [] });
    expect(problemsIn({ goal: 'x', steps })[0]?.pointer).toBe('/plan/steps/1/title');
  });

  it('gives a step to somebody who may call its new tool', () => {
    const [first] = draftOf(plan).steps;
    if (!first) throw new Error('no step');
    const changed = withTool({ ...first, arguments: { dataset: 'x', old: 1 } }, 'clean', options);
    expect(changed).toMatchObject({ agent: 'data-engineer', tools: ['clean'] });
    expect(changed.arguments).toEqual({ dataset: 'x' });
  });

  it('writes down only what a person touched', () => {
    const fields = toolFieldsOf(schema, true);
    const given = { dataset: 'orders', chart: { kind: 'bar' } };
    const values = toolValues(fields, given);
    expect(argumentsIn(fields, values, given).arguments).toEqual(given);
    const more = argumentsIn(fields, { ...values, limit: 3 }, given);
    expect(more).toEqual({ arguments: { ...given, limit: 3 }, problems: {} });
    const none = argumentsIn(fields, { ...values, dataset: '' }, given);
    expect(none.arguments).toEqual({ chart: { kind: 'bar' } });
    const broken = argumentsIn(fields, { ...values, chart: '{' }, given);
    expect(broken.problems.chart).toContain('not JSON yet');
  });

  it('puts what the server says at the step and the field', () => {
    const found = problemsAt([
      { pointer: '/plan/steps/1/arguments/limit', message: 'too small' },
      { pointer: '/plan/steps/1/arguments/chart/kind/0', message: 'unknown' },
      { pointer: '/plan/steps/0/tools/0', message: 'not allowed' },
      { pointer: '/plan/steps/0/skill', message: 'unknown skill' },
      { pointer: '/plan', message: 'at most 4 agents' },
    ]);
    expect(found.steps[1]?.arguments).toEqual({ limit: 'too small', chart: 'kind: unknown' });
    expect(found.steps[0]).toMatchObject({
      fields: { tools: 'not allowed' },
      others: ['skill: unknown skill'],
    });
    expect(found.others).toEqual(['at most 4 agents']);
  });
});

describe('what was changed', () => {
  it('is nothing for a plan that nobody changed', () => {
    const { added, removed, changed } = changesOf(null, plan);
    expect([added.size, removed.length, changed.size]).toEqual([0, 0, 0]);
  });

  it('names what was added, taken out, put elsewhere and changed, field by field', () => {
    const after: Plan = {
      ...plan,
      steps: [
        step('draw', { needs: [], arguments: { dataset: 'orders', limit: 3 } }),
        step('look'),
        step('new'),
      ],
    };
    const found = changesOf(plan, after);
    expect([...found.added]).toEqual(['new']);
    expect(found.removed.map(({ id }) => id)).toEqual(['count']);
    expect(found.isReordered).toBe(true);
    expect(found.changed.get('draw')).toEqual([
      { field: 'limit', before: '', after: '3' },
      { field: 'Works on', before: 'count', after: '' },
    ]);
    expect(found.changed.has('look')).toBe(false);
  });

  it('counts everything that a step works on as needed', () => {
    expect([...neededFor('count', plan.steps)]).toEqual(['count', 'look']);
    expect([...neededFor('draw', plan.steps)].sort()).toEqual(['count', 'draw', 'look']);
  });
});

describe('what a plan leaves open', () => {
  const looking = { ...step('look', { open: { limit: ['count'], to: [] } }), uid: 'look' };

  it('is open no more once a person gives it', () => {
    const given = withArguments(looking, { dataset: 'orders', limit: 5 });
    expect(given.arguments).toEqual({ dataset: 'orders', limit: 5 });
    expect(given.open).toEqual({ to: [] });
  });

  it('goes with the tool that takes it', () => {
    expect(withTool(looking, 'clean', options).open).toEqual({ limit: ['count'] });
  });

  it('can be said by a person, with the steps in which it is found', () => {
    const open = withOpen(looking, 'dataset');
    expect(open.arguments).toEqual({});
    expect(open.open).toEqual({ limit: ['count'], to: [], dataset: [] });
    const found = withFoundIn(open, 'dataset', ['load']);
    expect(found.open?.dataset).toEqual(['load']);
    expect(found.needs).toEqual(['load']);
    expect(withoutOpen(found, 'dataset').open).toEqual(looking.open);
  });

  it('stays empty when the only step that finds it is taken out', () => {
    const steps = [step('a'), step('b'), step('c', { open: { x: ['a'], y: ['a', 'b'], z: [] } })];
    const left = without(draftOf({ ...plan, steps }).steps, 0);
    expect(left.at(-1)?.open).toEqual({ y: ['b'], z: [] });
  });

  it('has its errors at the argument', () => {
    const draft = draftOf({ ...plan, steps: [step('a'), step('b', { open: { x: ['a'] } })] });
    const found = problemsIn(draft);
    expect(found).toEqual([
      {
        pointer: '/plan/steps/1/open/x',
        message: 'The step does not work on "Do a": add it below, or take it out here.',
      },
    ]);
    expect(problemsAt(found).steps[1]?.open.x).toContain('does not work on');
  });

  it('is told when a person changed it', () => {
    const before = { ...plan, steps: [step('look', { open: { to: ['a'] } })] };
    const after = { ...plan, steps: [step('look', { open: { to: ['a', 'b'], cc: [] } })] };
    expect(changesOf(before, after).changed.get('look')).toEqual([
      { field: 'Found on the way', before: 'to in a', after: 'to in a, b; cc' },
    ]);
    expect(changesOf(before, before).changed.size).toBe(0);
  });
});
