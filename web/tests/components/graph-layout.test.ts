import { describe, expect, it } from 'vitest';
import { viewportFor } from '@/components/graph-layout';

const frame = { width: 1000, height: 400 };

describe('the place of a graph in its frame', () => {
  it('is the middle where all of it fits', () => {
    const { x, y, zoom } = viewportFor({ x: 0, y: 0, width: 500, height: 100 }, frame);
    expect(zoom).toBe(1.1);
    expect(x + 250 * zoom).toBeCloseTo(500);
    expect(y + 50 * zoom).toBeCloseTo(200);
  });

  it('shrinks to fit, but stays readable and then shows the beginning', () => {
    expect(viewportFor({ x: 0, y: 0, width: 1190, height: 100 }, frame).zoom).toBeCloseTo(0.8);
    const large = viewportFor({ x: 10, y: 0, width: 9000, height: 100 }, frame);
    expect(large.zoom).toBe(0.65);
    expect(large.x + 10 * large.zoom).toBeCloseTo(24);
  });
});
