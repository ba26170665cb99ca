/** The small rules of the library. */
import { describe, expect, it } from 'vitest';
import { inputFields, inputValues } from '@/pages/playbooks/inputs';
import { foldersOf, lineOf } from '@/pages/playbooks/states';

describe('foldersOf', () => {
  it('counts every folder above a playbook, once and in order', () => {
    const playbooks = [{ folder: 'Sales' }, { folder: 'Finance/Monthly' }, { folder: 'Finance' }];
    expect(foldersOf([...playbooks, { folder: '' }])).toEqual([
      'Finance',
      'Finance/Monthly',
      'Sales',
    ]);
  });
});

describe('lineOf', () => {
  it('takes the line from the end of a message', () => {
    expect(lineOf('is missing (line 3)')).toEqual({ text: 'is missing', line: 3 });
  });

  it('finds the line of a text that cannot be read at all', () => {
    const said = 'line 2, column 5: tags (!) have no place here';
    expect(lineOf(said)).toEqual({ text: said, line: 2 });
  });

  it('says nothing of lines where there is none', () => {
    expect(lineOf('is not known')).toEqual({ text: 'is not known' });
  });
});

describe('the form of a playbook', () => {
  const schema = {
    type: 'object',
    properties: {
      dataset: { type: 'string', default: 'orders' },
      limit: { type: 'integer', title: 'How many at most', default: 5 },
    },
    required: ['dataset'],
  };

  it('calls fields as their author does', () => {
    const labels = inputFields(schema).map(({ field }) => field.label);
    expect(labels).toEqual(['Dataset', 'How many at most']);
  });

  it('begins with the values of the author', () => {
    expect(inputValues(schema)).toEqual({ dataset: 'orders', limit: 5 });
  });
});
