import { describe, expect, it } from 'vitest';
import { columnsOf } from '@/pages/blueprints/FlowSketch';
import { needsOf } from '@/pages/blueprints/needs';

const step = (id: string, after: string[] = [], type = 'tool') => ({ id, title: id, type, after });

describe('the card of a blueprint', () => {
  it('draws each step after all that it waits for', () => {
    const steps = [step('load'), step('send', ['check', 'load']), step('check', ['load'])];
    const ids = columnsOf(steps).map((column) => column.map(({ id }) => id));
    expect(ids).toEqual([['load'], ['check'], ['send']]);
  });

  it('draws a flow that goes round, and one that names a step that is gone', () => {
    const round = [step('a', ['b', 'gone']), step('b', ['a'])];
    expect(columnsOf(round).flat()).toHaveLength(2);
  });

  it('says what is needed', () => {
    const blueprint = {
      systems: ['CRM'],
      asks_for: ['Sources'],
      steps: [step('a'), step('b', ['a'], 'approval'), step('c', ['b'], 'agent')],
    } as unknown as Parameters<typeof needsOf>[0];
    expect(needsOf(blueprint)).toEqual([
      'Data from CRM',
      'Your input: Sources',
      'A language model',
      'A person who answers or approves',
    ]);
    expect(needsOf({ ...blueprint, systems: [], asks_for: [], steps: [] })).toEqual([
      'Nothing but your data',
    ]);
  });
});
