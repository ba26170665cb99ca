/** Which part of a flow is in view when it is opened: the whole if its words can be read then, otherwise its start. */
import type { Viewport } from '@xyflow/react';
import { SIZE } from '@/flows/layout';
import type { Drawn } from './drawn';

/** Smaller than this, the titles of steps are tiring to read. */
export const READABLE = 0.75;
/** A flow that is seen as a whole may be a little smaller: it is better than one that is cut off. */
export const WHOLE = 0.6;
const MARGIN = 20;
/** A border that is cut off is no box that is hidden. */
const SLACK = 4;
/** A note has no height before it is measured. */
const USUAL = SIZE;

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function openingView(boxes: readonly Drawn[], width: number, height: number): Viewport {
  const areas = outerAreas(boxes);
  const [first] = [...areas].sort((a, b) => a.left - b.left || a.top - b.top);
  if (!first || width <= 0 || height <= 0) return { x: 0, y: 0, zoom: 1 };
  const { left, top, right, bottom } = around(areas);
  const [wide, high] = [right - left, bottom - top];
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

/** Whether a flow of these boxes opens without some of them, because all of them would be too small to read. */
export function opensCutOff(boxes: readonly Drawn[], width: number, height: number): boolean {
  const areas = outerAreas(boxes);
  if (areas.length === 0) return false;
  const { left, top, right, bottom } = around(areas);
  const fitting = Math.min(
    (width - 2 * MARGIN) / (right - left),
    (height - 2 * MARGIN) / (bottom - top),
  );
  return fitting < WHOLE;
}

export interface Hidden {
  left: number;
  right: number;
  above: number;
  below: number;
}

/** How many boxes are cut off or out of view on each side; each counts once. */
export function hiddenBoxes(
  boxes: readonly Drawn[],
  { x, y, zoom }: Viewport,
  width: number,
  height: number,
): Hidden {
  const found = { left: 0, right: 0, above: 0, below: 0 };
  for (const area of outerAreas(boxes)) {
    if (area.left * zoom + x < -SLACK) found.left += 1;
    else if (area.right * zoom + x > width + SLACK) found.right += 1;
    else if (area.top * zoom + y < -SLACK) found.above += 1;
    else if (area.bottom * zoom + y > height + SLACK) found.below += 1;
  }
  return found;
}

/** Boxes inside others have their places within them; frames are as large as what is in them. */
function outerAreas(boxes: readonly Drawn[]): Area[] {
  return boxes
    .filter(({ parentId, type }) => parentId === undefined && type !== 'frame')
    .map(areaOf);
}

function around(areas: readonly Area[]): Area {
  return {
    left: Math.min(...areas.map(({ left }) => left)),
    top: Math.min(...areas.map(({ top }) => top)),
    right: Math.max(...areas.map(({ right }) => right)),
    bottom: Math.max(...areas.map(({ bottom }) => bottom)),
  };
}

function areaOf({ position, width, height }: Drawn): Area {
  return {
    left: position.x,
    top: position.y,
    right: position.x + (width ?? USUAL.width),
    bottom: position.y + (height ?? USUAL.height),
  };
}
