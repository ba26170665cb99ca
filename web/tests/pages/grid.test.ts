import { describe, expect, it } from 'vitest';
import { moveByKey } from '@/pages/dataset/data/grid-keys';
import {
  BLOCK_ROWS,
  blocksOf,
  columnWindow,
  contentHeight,
  revealRow,
  ROW_HEIGHT,
  rowWindow,
  scrolledTo,
  TALLEST,
} from '@/pages/dataset/data/grid-window';

const MILLIONS = 10_000_000;

describe('the rows on screen', () => {
  it('are those in view and a few around them', () => {
    const { first, end } = rowWindow({ top: 100 * ROW_HEIGHT, height: 10 * ROW_HEIGHT }, 1000);
    expect(first).toBeLessThan(100);
    expect(first).toBeGreaterThan(80);
    expect(end).toBeGreaterThan(110);
    expect(end).toBeLessThan(130);
  });

  it('end where the table ends', () => {
    expect(rowWindow({ top: 0, height: 600 }, 3)).toEqual({ first: 0, end: 3 });
    expect(rowWindow({ top: 5000, height: 600 }, 0)).toEqual({ first: 0, end: 0 });
  });

  it('need the blocks that hold them', () => {
    expect(blocksOf({ first: BLOCK_ROWS - 1, end: BLOCK_ROWS + 1 })).toEqual([0, 1]);
    expect(blocksOf({ first: BLOCK_ROWS, end: BLOCK_ROWS * 2 })).toEqual([1]);
    expect(blocksOf({ first: 0, end: 0 })).toEqual([]);
  });
});

describe('scrolling', () => {
  const viewport = { top: 3000, height: 600 };

  it('is exact in a table that fits', () => {
    const rows = 1000;
    const furthest = rows * ROW_HEIGHT - 600;
    const at = (now: number) => scrolledTo({ before: 0, now, furthest, viewport, rows });
    expect(at(1234)).toBe(1234);
    expect(at(furthest)).toBe(furthest);
  });

  it('reaches every row of a table higher than a browser can draw', () => {
    const furthest = contentHeight(MILLIONS) - viewport.height;
    const to = (now: number, before = 0) =>
      scrolledTo({ before, now, furthest, viewport, rows: MILLIONS });
    expect(contentHeight(MILLIONS)).toBe(TALLEST);
    expect(to(0, 5000)).toBe(0);
    // The thumb goes by share …
    expect(to(furthest / 2)).toBeCloseTo((MILLIONS * ROW_HEIGHT - 600) / 2, -3);
    // … the wheel by pixels.
    expect(to(5100, 5000)).toBe(viewport.top + 100);
    const { end } = rowWindow({ ...viewport, top: to(furthest) }, MILLIONS);
    expect(end).toBe(MILLIONS);
  });

  it('moves as little as needed to show a row', () => {
    expect(revealRow(100, viewport)).toBe(3000);
    expect(revealRow(99, viewport)).toBe(99 * ROW_HEIGHT);
    expect(revealRow(120, viewport)).toBe(121 * ROW_HEIGHT - 600);
  });

  it('draws only the columns in view', () => {
    const widths = [100, 200, 100, 100, 300];
    expect(columnWindow(widths, 0, 250)).toEqual({ first: 0, end: 2, before: 0 });
    expect(columnWindow(widths, 310, 50)).toEqual({ first: 2, end: 3, before: 300 });
    expect(columnWindow([], 0, 500)).toEqual({ first: 0, end: 0, before: 0 });
  });
});

describe('the keyboard', () => {
  const extent = { rows: 50, columns: 3, page: 10 };
  const press = (key: string, ctrl = false) =>
    moveByKey({ key, ctrl }, { row: 5, column: 1 }, extent);

  it('moves by cell, page and to the ends, never beyond', () => {
    expect(press('ArrowDown')).toEqual({ row: 6, column: 1 });
    expect(press('PageUp')).toEqual({ row: 0, column: 1 });
    expect(press('End', true)).toEqual({ row: 49, column: 2 });
    expect(press('Home')).toEqual({ row: 5, column: 0 });
  });

  it('leaves other keys alone', () => {
    expect(press('a')).toBeNull();
    expect(press('Tab')).toBeNull();
  });
});
