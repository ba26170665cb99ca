import { describe, expect, it } from 'vitest';
import {
  describeFilter,
  directionOf,
  nextSort,
  parseFilters,
  parseSort,
  withFilter,
  writeFilters,
} from '@/pages/dataset/data/filters';

const columns = ['name', '-odd', 'amount'];

describe('filters', () => {
  it('survive the way through the address', () => {
    const filters = [{ column: 'name', operator: 'contains', value: 'a "b" & ü' } as const];
    expect(parseFilters(writeFilters(filters), columns)).toEqual(filters);
    expect(writeFilters([])).toBeNull();
  });

  it('leave out what no filter is', () => {
    expect(parseFilters('not json', columns)).toEqual([]);
    expect(parseFilters('{"column":"name"}', columns)).toEqual([]);
    const odd = JSON.stringify([
      null,
      { column: 'gone', operator: 'eq', value: '1' },
      { column: 'name', operator: 'drop table', value: '1' },
      { column: 'amount', operator: 'empty' },
    ]);
    expect(parseFilters(odd, columns)).toEqual([
      { column: 'amount', operator: 'empty', value: '' },
    ]);
  });

  it('are one per column', () => {
    const first = { column: 'name', operator: 'eq', value: '1' } as const;
    const second = { column: 'name', operator: 'ne', value: '2' } as const;
    expect(withFilter([first], second)).toEqual([second]);
  });

  it('read as words', () => {
    expect(describeFilter({ column: 'amount', operator: 'ge', value: '5' })).toBe(
      'amount is at least “5”',
    );
    expect(describeFilter({ column: 'name', operator: 'empty', value: '' })).toBe('name is empty');
  });
});

describe('sorting', () => {
  it('goes up, down and back to the stored order', () => {
    const once = nextSort(null, 'name');
    const twice = nextSort(once, 'name');
    expect([once, twice, nextSort(twice, 'name')]).toEqual(['name', '-name', null]);
    expect(nextSort('-name', 'amount')).toBe('amount');
  });

  it('knows only columns that exist', () => {
    expect(parseSort('-name', columns)).toEqual(['-name']);
    expect(parseSort('-odd', columns)).toEqual(['-odd']);
    expect(parseSort('gone', columns)).toEqual([]);
    expect(directionOf('-name', 'name')).toBe('descending');
  });
});
