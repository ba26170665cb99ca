import { describe, expect, it } from 'vitest';
import { indexOf, nextError, toggled, resized } from '@/pages/run/trace/folds';
import { stepOf } from '@/pages/run/trace/SpanActions';
import { shortened } from '@/pages/run/trace/SpanLines';

describe('folds', () => {
  // 1 hides 2 and 3, 2 is inside it, 5 hides 6.
  const folds = new Map([
    [5, 1],
    [1, 2],
    [2, 1],
  ]);

  it('say at which row a position is shown', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((at) => indexOf(at, folds))).toEqual([
      0, 1, 1, 1, 2, 3, 3, 4,
    ]);
  });

  it('are opened and closed', () => {
    const once = toggled(new Map(), 4, 9);
    expect([...once]).toEqual([[4, 9]]);
    expect(toggled(once, 4, 9).size).toBe(0);
  });
});

describe('going from error to error', () => {
  const failed = [{ position: 7 }, { position: 3 }];

  it('starts again at the other end', () => {
    expect(nextError(failed, -1, 1)).toBe(3);
    expect(nextError(failed, 3, 1)).toBe(7);
    expect(nextError(failed, 7, 1)).toBe(3);
    expect(nextError(failed, 3, -1)).toBe(7);
    expect(nextError([], 3, 1)).toBeNull();
  });
});

describe('the step of a key', () => {
  it('is the outermost node without item, round or try', () => {
    expect(stepOf('each[3]/show#2/plan')).toBe('each');
    expect(stepOf('total~1')).toBe('total');
    expect(stepOf('ask:wait')).toBe('ask');
  });
});

describe('a comparison', () => {
  const line = (text: string, change: 'same' | 'added') => ({
    ...{ text, change, mark: null, source: '', is_heading: false },
  });

  it('counts equal lines that are far from a change', () => {
    const lines = Array.from({ length: 8 }, (_, at) => line(String(at), 'same'));
    const found = shortened([...lines, line('new', 'added')]);
    expect(found[0]).toBe(5);
    expect(found.slice(1).map((part) => typeof part)).toEqual(Array(4).fill('object'));
  });
});

it('gives folds the sizes that spans of a run under way have now', () => {
  const folds = new Map([
    [2, 5],
    [9, 1],
  ]);
  const same = [
    { position: 2, size: 5 },
    { position: 3, size: 8 },
  ];
  expect(resized(folds, same)).toBe(folds);
  expect([...resized(folds, [{ position: 2, size: 7 }])]).toEqual([
    [2, 7],
    [9, 1],
  ]);
});
