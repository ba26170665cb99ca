/** Which part of a table of any size is on screen, and which blocks of rows that part needs. */

export const ROW_HEIGHT = 30;
export const HEADER_HEIGHT = 48;
export const NUMBER_WIDTH = 72;
export const BLOCK_ROWS = 200;
/** Browsers cannot draw anything much higher than this; longer tables scroll in larger steps. */
export const TALLEST = 12_000_000;
const SPARE_ROWS = 8;

export interface Viewport {
  /** Where the table is looked at, in pixels of its full height. */
  top: number;
  height: number;
}

/** The height of the scrolling content. */
export function contentHeight(rows: number): number {
  return Math.min(rows * ROW_HEIGHT, TALLEST);
}

/** Rows to draw, from `first` to before `end`: those on screen and a few around them. */
export function rowWindow({ top, height }: Viewport, rows: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - SPARE_ROWS);
  const end = Math.min(rows, Math.ceil((top + height) / ROW_HEIGHT) + SPARE_ROWS);
  return { first: Math.min(first, end), end };
}

/** The numbers of the blocks that hold these rows. */
export function blocksOf({ first, end }: { first: number; end: number }): number[] {
  if (end <= first) return [];
  const from = Math.floor(first / BLOCK_ROWS);
  const to = Math.floor((end - 1) / BLOCK_ROWS);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

interface Scroll {
  /** The scroller's position before and now, and the furthest it goes. */
  before: number;
  now: number;
  furthest: number;
  viewport: Viewport;
  rows: number;
}

/**
 * Where the table is looked at after scrolling. In a table that is higher than the content can be, a small step
 * (the wheel, an arrow) moves by the same pixels, and a large one (the thumb) by the same share.
 */
export function scrolledTo({ before, now, furthest, viewport, rows }: Scroll): number {
  const full = rows * ROW_HEIGHT;
  const lowest = Math.max(0, full - viewport.height);
  if (full <= TALLEST) return Math.min(now, lowest);
  if (now <= 0) return 0;
  if (now >= furthest) return lowest;
  const step = now - before;
  const isSmall = Math.abs(step) < viewport.height * 2;
  const top = isSmall ? viewport.top + step : (now / furthest) * lowest;
  return Math.min(Math.max(0, top), lowest);
}

/** Where to look so that a row is wholly visible, moving as little as possible. */
export function revealRow(row: number, { top, height }: Viewport): number {
  const above = row * ROW_HEIGHT;
  const below = above + ROW_HEIGHT - height;
  if (top > above) return above;
  return top < below ? below : top;
}

/** Columns to draw for a horizontal part of the table, and how wide those left out before them are. */
export function columnWindow(
  widths: readonly number[],
  left: number,
  width: number,
): { first: number; end: number; before: number } {
  let first = 0;
  let before = 0;
  while (first < widths.length - 1 && before + (widths[first] ?? 0) < left) {
    before += widths[first] ?? 0;
    first += 1;
  }
  let end = first;
  let right = before;
  while (end < widths.length && right <= left + width) {
    right += widths[end] ?? 0;
    end += 1;
  }
  return { first, end, before };
}

const NARROWEST = 88;
const WIDEST = 320;
const CHARACTER = 7.4;
const PADDING = 26;

/** Wide enough for the name and most of the first values, within reason. */
export function columnWidth(name: string, values: readonly (string | null)[]): number {
  const lengths = values.map((value) => value?.length ?? 4).sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.9)] ?? 0;
  const header = name.length * CHARACTER + 64;
  const wanted = Math.max(header, typical * CHARACTER + PADDING);
  return Math.round(Math.min(WIDEST, Math.max(NARROWEST, wanted)));
}
