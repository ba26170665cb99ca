/** Two values, part by part. */
import { expect, it } from 'vitest';
import { differences } from '@/components/value-difference';

it('names the parts that differ, and no others', () => {
  const before = {
    rows: [
      [1, 'a'],
      [2, 'b'],
    ],
    total: 2,
    gone: true,
  };
  const after = {
    rows: [
      [1, 'a'],
      [2, 'c'],
      [3, 'd'],
    ],
    total: 2,
  };
  expect(differences(before, after, 10)).toEqual([
    { path: ['rows', '1', '1'], before: 'b', after: 'c' },
    { path: ['rows', '2'], before: undefined, after: [3, 'd'] },
    { path: ['gone'], before: true, after: undefined },
  ]);
  expect(differences(before, after, 1)).toHaveLength(1);
});

it('compares whole values where they are of other kinds', () => {
  expect(differences([1], { 0: 1 }, 10)).toEqual([{ path: [], before: [1], after: { 0: 1 } }]);
  expect(differences('a', 'a', 10)).toEqual([]);
  expect(differences(null, 1, 10)).toEqual([{ path: [], before: null, after: 1 }]);
});
