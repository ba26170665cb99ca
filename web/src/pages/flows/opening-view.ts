/** Which part of a flow is in view when it is opened: the whole if its words can be read then, otherwise its start. */
import type { Viewport } from '@xyflow/react';
import { SIZE } from '@/flows/layout';
import type { Drawn } from './drawn';

/** Smaller than this, the titles of steps are tiring to read. */
export const READABLE = 0.75;
/** A flow that is seen as a whole may be a little smaller: it is better than one that is cut off. */
export const WHOLE = 0.6;
const MARGIN = 20;
/** A note has no height before it is measured. */
const USUAL = SIZE;

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function openingView(boxes: readonly Drawn[], width: number, height: number): Viewport {
  // Boxes inside others have their places within them.
  const areas = boxes.filter(({ parentId }) => parentId === undefined).map(areaOf);
  const [first] = [...areas].sort((a, b) => a.left - b.left || a.top - b.top);
  if (!first || width <= 0 || height <= 0) return { x: 0, y: 0, zoom: 1 };
  const left = first.left;
  const top = Math.min(...areas.map((area) => area.top));
  const wide = Math.max(...areas.map((area) => area.right)) - left;
  const high = Math.max(...areas.map((area) => area.bottom)) - top;
  const [across, down] = [width - 2 * MARGIN, height - 2 * MARGIN];
  const fitting = Math.min(1, across / wide, down / high);
  const zoom = fitting >= WHOLE ? fitting : READABLE;
  const x = wide * zoom <= across ? (width - wide * zoom) / 2 : MARGIN;
  if (high * zoom <= down) {
    return { x: x - left * zoom, y: (height - high * zoom) / 2 - top * zoom, zoom };
  }
  // Higher than the page: what comes first is in the middle, unless that would leave room above or below it.
  const middle = ((first.top + first.bottom) / 2) * zoom;
  const lowest = height - MARGIN - (top + high) * zoom;
  const y = Math.min(MARGIN - top * zoom, Math.max(lowest, height / 2 - middle));
  return { x: x - left * zoom, y, zoom };
}

function areaOf({ position, width, height }: Drawn): Area {
  return {
    left: position.x,
    top: position.y,
    right: position.x + (width ?? USUAL.width),
    bottom: position.y + (height ?? USUAL.height),
  };
}
