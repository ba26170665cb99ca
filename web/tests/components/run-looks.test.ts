import { describe, expect, it } from 'vitest';
import { durationText } from '@/components/duration';
import { codeText } from '@/components/operation-name';
import { percentOf, reasonText, stateLook } from '@/components/run-status';
import { tableOf } from '@/components/value-table';

describe('lengths of time', () => {
  it.each([
    [420, '0.4 s'],
    [12_900, '12 s'],
    [185_000, '3 min 5 s'],
    [180_000, '3 min'],
    [7_800_000, '2 h 10 min'],
    [200_000_000, '2 days'],
    [-5, '0 s'],
  ])('%i ms reads as %s', (length, text) => {
    expect(durationText(length)).toBe(text);
  });
});

describe('progress', () => {
  it('is 100 only when all is done', () => {
    expect(percentOf({ done: 199, total: 200 })).toBe(99);
    expect(percentOf({ done: 3, total: 3 })).toBe(100);
    expect(percentOf({ done: 0, total: 0 })).toBeNull();
    expect(percentOf(null)).toBeNull();
  });

  it('reads as a word for a state that is not known', () => {
    expect(stateLook('half_way').word).toBe('half way');
  });
});

describe('values that are tables', () => {
  it('are found as columns with rows, whatever the rows are', () => {
    const columns = [{ name: 'a' }, { name: 'b' }];
    const expected = {
      columns: ['a', 'b'],
      rows: [
        ['1', null],
        ['x', '{"c":2}'],
      ],
    };
    expect(
      tableOf({
        columns,
        rows: [
          [1, null],
          ['x', { c: 2 }],
        ],
      }),
    ).toEqual(expected);
    expect(
      tableOf({
        columns,
        rows: [
          { a: 1, b: null },
          { a: 'x', b: { c: 2 } },
        ],
      }),
    ).toEqual(expected);
  });

  it('are found as records that share their fields', () => {
    expect(tableOf([{ a: 1 }, { a: 2 }])).toEqual({ columns: ['a'], rows: [['1'], ['2']] });
  });

  it('are not seen where there are none', () => {
    expect(tableOf([])).toBeNull();
    expect(tableOf([1, 2])).toBeNull();
    expect(tableOf([{ a: { b: 1 } }])).toBeNull();
    expect(tableOf({ columns: ['a'], rows: ['x'] })).toBeNull();
    expect(tableOf('text')).toBeNull();
  });
});

describe('codes in words', () => {
  it.each([
    ['an approval: Review the rules', 'Approval: Review the rules'],
    ['question: Which year?', 'Question: Which year?'],
    ['The budget does not suffice', 'The budget does not suffice'],
    [null, null],
  ])('the reason %s reads as %s', (reason, text) => {
    expect(reasonText(reason)).toBe(text);
  });

  it('an error is named by its code', () => {
    expect(codeText('sql-refused')).toBe('SQL refused');
    expect(codeText('python-failed')).toBe('Python failed');
  });
});
