import { describe, expect, it } from 'vitest';
import { changedColumns, diffColumns, diffLine } from '@/pages/dataset/diff/diff-lines';
import { versionChoices } from '@/pages/dataset/diff/version-choices';
import { undoneIn } from '@/pages/history/commits';

const before = [
  { name: 'id', type: 'BIGINT' },
  { name: 'gone', type: 'VARCHAR' },
  { name: 'city', type: 'VARCHAR' },
];
const after = [
  { name: 'id', type: 'BIGINT' },
  { name: 'city', type: 'VARCHAR' },
  { name: 'new', type: 'VARCHAR' },
];
const columns = diffColumns(before, after);

describe('differing rows', () => {
  it('show the columns of both sides, those that are gone last', () => {
    expect(columns).toEqual(['id', 'city', 'new', 'gone']);
  });

  it('mark what a changed row was and is', () => {
    const row = {
      kind: 'changed',
      row: 4,
      before: ['1', 'x', 'Koln'],
      after: ['1', 'Köln', null],
      changed: ['city'],
    };
    const line = diffLine(row, before, after, columns);
    expect(line.kind).toBe('changed');
    expect(line.row).toBe(5);
    expect(line.cells.map(({ change }) => change)).toEqual([
      null,
      { old: 'Koln', new: 'Köln' },
      null,
      null,
    ]);
    expect(line.cells.at(-1)?.value).toBe('x');
  });

  it('tell a missing value from an empty one', () => {
    const row = {
      kind: 'changed',
      row: 0,
      before: ['1', '', ''],
      after: ['1', null, ''],
      changed: [],
    };
    const [, city] = diffLine(row, before, after, columns).cells;
    expect(city?.change).toEqual({ old: '', new: null });
  });

  it('have one side only when they came or went', () => {
    const added = {
      kind: 'added',
      row: null,
      before: null,
      after: ['2', 'Bonn', 'n'],
      changed: [],
    };
    const line = diffLine(added, before, after, columns);
    expect(line.kind).toBe('added');
    expect(line.cells.map(({ isAbsent }) => isAbsent)).toEqual([false, false, false, true]);
    const removed = { ...added, before: ['2', 'g', 'Bonn'], after: null };
    expect(diffLine(removed, before, after, columns).kind).toBe('removed');
  });

  it('can be narrowed to the key and what changed', () => {
    const diff = { key: ['id'], changed_cells: { city: 2, new: 0 } };
    expect(changedColumns(diff, columns)).toEqual(['id', 'city']);
  });
});

describe('a list of commits', () => {
  const commit = (id: string, undoes: string | null = null, redoes: string | null = null) => ({
    id,
    undoes,
    redoes,
  });

  it('says what is taken back at present, and by what', () => {
    const undo = commit('3', '1');
    expect([...undoneIn([undo, commit('2'), commit('1')])]).toEqual([['1', '3']]);
    expect([...undoneIn([commit('4', null, '1'), undo, commit('2'), commit('1')])]).toEqual([]);
    const again = [commit('5', '1'), commit('4', null, '1'), undo, commit('1')];
    expect([...undoneIn(again)]).toEqual([['1', '5']]);
  });

  it('offers each version of a dataset once', () => {
    const made = (id: string, version: string | null) => ({
      ...commit(id),
      parent: null,
      author: 'usr_1',
      message: `m${id}`,
      operation: 'trim',
      arguments: {},
      created_at: '2026-01-01T00:00:00Z',
      run_id: null,
      expired: false,
      changes: [{ kind: 'dataset', name: 'a', before: null, after: version }],
    });
    const choices = versionChoices([made('3', 'v1'), made('2', 'v2'), made('1', 'v1')], 'a');
    expect(choices.map(({ version, message }) => [version, message])).toEqual([
      ['v1', 'm3'],
      ['v2', 'm2'],
    ]);
    expect(versionChoices([made('1', null)], 'a')).toEqual([]);
  });
});
