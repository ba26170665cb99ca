import { describe, expect, it } from 'vitest';
import { readYaml } from '@/flows/document';
import {
  addInput,
  changeInput,
  type FlowInput,
  inputsOf,
  isFreeName,
  removeInput,
  requireInput,
} from '@/flows/flow-inputs';

const BARE = `format: 1
id: margins
# What it may spend.
budget: {usd: 1}
steps: []
`;

function read(text: string): unknown {
  return readYaml(text).value;
}

function only(text: string): FlowInput {
  const [found, ...others] = inputsOf(read(text));
  expect(others).toEqual([]);
  if (!found) throw new Error('There is no input.');
  return found;
}

describe('inputs of a flow', () => {
  it('are added to a flow that has none, and comments stay', () => {
    const text = addInput(BARE, read(BARE), 'customer');
    expect(only(text)).toEqual({
      name: 'customer',
      kind: 'text',
      title: '',
      required: false,
      choices: [],
    });
    expect(text).toContain('# What it may spend.');
    expect(read(text)).toMatchObject({ inputs: { type: 'object' } });
  });

  it('change their kind and keep their label', () => {
    let text = addInput(BARE, read(BARE), 'since');
    text = changeInput(text, only(text), { ...only(text), title: 'Since when' });
    text = changeInput(text, only(text), { ...only(text), kind: 'date' });
    expect(only(text)).toMatchObject({ kind: 'date', title: 'Since when' });
    text = changeInput(text, only(text), { ...only(text), kind: 'choice' });
    text = changeInput(text, only(text), { ...only(text), choices: ['north', 'south'] });
    expect(only(text)).toMatchObject({ kind: 'choice', choices: ['north', 'south'] });
  });

  it('are required and removed without leaving anything behind', () => {
    let text = addInput(BARE, read(BARE), 'one');
    text = requireInput(text, read(text), 'one', true);
    expect(only(text).required).toBe(true);
    expect(requireInput(text, read(text), 'one', false)).not.toContain('required');
    text = removeInput(text, read(text), 'one');
    expect(inputsOf(read(text))).toEqual([]);
    expect(text).not.toContain('one');
  });

  it('that only YAML can say have no kind and keep what they say', () => {
    const text = `${BARE}inputs: {type: object, properties: {rows: {type: integer, minimum: 3}}}\n`;
    const before = only(text);
    expect(before.kind).toBeNull();
    expect(changeInput(text, before, { ...before, title: 'Rows' })).toContain('minimum: 3');
  });

  it('have names that expressions can read', () => {
    const inputs = inputsOf(read(addInput(BARE, read(BARE), 'one')));
    expect(['two', 'Two_2'].every((name) => isFreeName(name, inputs))).toBe(true);
    expect(['', 'one', '2nd', 'a b', 'ä-'].some((name) => isFreeName(name, inputs))).toBe(false);
  });
});
