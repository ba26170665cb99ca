/** What people do to a drawing without changing the flow: notes, groups, lines of boxes. */
import { t } from '@lingui/core/macro';
import type { Layout, Placed, Point, Size } from './layout';

const freeNumber = (ids: readonly string[]) => {
  let number = 1;
  while (ids.includes(String(number))) number += 1;
  return String(number);
};

export function addNote(layout: Layout, at: Point): { layout: Layout; id: string } {
  const id = freeNumber(layout.notes.map((note) => note.id));
  return { layout: { ...layout, notes: [...layout.notes, { id, text: '', at }] }, id };
}

export function changeNote(layout: Layout, id: string, text: string): Layout {
  const notes = layout.notes.map((note) => (note.id === id ? { ...note, text } : note));
  return { ...layout, notes };
}

export function moveNotes(layout: Layout, places: Readonly<Record<string, Point>>): Layout {
  if (Object.keys(places).length === 0) return layout;
  const notes = layout.notes.map((note) => ({ ...note, at: places[note.id] ?? note.at }));
  return { ...layout, notes };
}

export function removeNotes(layout: Layout, ids: readonly string[]): Layout {
  if (ids.length === 0) return layout;
  return { ...layout, notes: layout.notes.filter(({ id }) => !ids.includes(id)) };
}

/** A node belongs to one group at most; a group without nodes is none. */
export function groupNodes(
  layout: Layout,
  keys: readonly string[],
): { layout: Layout; id: string } {
  const id = freeNumber(layout.groups.map((group) => group.id));
  const others = withoutKeys(layout, keys).groups;
  const groups = [...others, { id, title: t`Group`, keys: [...keys] }];
  return { layout: { ...layout, groups }, id };
}

export function nameGroup(layout: Layout, id: string, title: string): Layout {
  const groups = layout.groups.map((group) => (group.id === id ? { ...group, title } : group));
  return { ...layout, groups };
}

export function ungroup(layout: Layout, id: string): Layout {
  return { ...layout, groups: layout.groups.filter((group) => group.id !== id) };
}

function withoutKeys(layout: Layout, keys: readonly string[]): Layout {
  const groups = layout.groups
    .map((group) => ({ ...group, keys: group.keys.filter((key) => !keys.includes(key)) }))
    .filter((group) => group.keys.length > 0);
  return { ...layout, groups };
}

/** A node has another key: what the drawing keeps of it, and of the nodes inside it, goes along. */
export function renameKeys(layout: Layout, from: string, to: string): Layout {
  const renamed = (key: string) =>
    key === from ? to : key.startsWith(`${from}/`) ? `${to}${key.slice(from.length)}` : key;
  return {
    ...layout,
    places: Object.fromEntries(
      Object.entries(layout.places).map(([key, at]) => [renamed(key), at]),
    ),
    closed: layout.closed.map(renamed),
    groups: layout.groups.map((group) => ({ ...group, keys: group.keys.map(renamed) })),
  };
}

export type Line = 'left' | 'top' | 'row' | 'column';

/** Places for boxes in one line, or with the same space between them. */
export function aligned(items: readonly Placed[], line: Line): Record<string, Point> {
  if (items.length < 2) return {};
  const isAcross = line === 'left' || line === 'column';
  const axis = isAcross ? 'x' : 'y';
  const start = Math.min(...items.map(({ at }) => at[axis]));
  if (line === 'left' || line === 'top') return linedUp(items, axis, start);
  const along = line === 'row' ? 'x' : 'y';
  const length = line === 'row' ? 'width' : 'height';
  const sorted = items.toSorted((a, b) => a.at[along] - b.at[along]);
  const first = sorted[0];
  let next = first?.at[along] ?? 0;
  const space = Math.max(GAP, spaceBetween(sorted, along, length));
  return Object.fromEntries(
    sorted.map(({ node, size }) => {
      const at = { x: 0, y: 0, [axis]: first?.at[axis] ?? 0, [along]: Math.round(next) };
      next += size[length] + space;
      return [node.key, at];
    }),
  );
}

const GAP = 40;

/** On one line, each where it was along it; a box that would cover the one before it goes behind that one. */
function linedUp(
  items: readonly Placed[],
  axis: keyof Point,
  start: number,
): Record<string, Point> {
  const along = axis === 'x' ? 'y' : 'x';
  const length = axis === 'x' ? 'height' : 'width';
  const sorted = items.toSorted((a, b) => a.at[along] - b.at[along] || a.at[axis] - b.at[axis]);
  let free = -Infinity;
  return Object.fromEntries(
    sorted.map(({ node, at, size }) => {
      const place = at[along] >= free ? at[along] : free + GAP;
      free = place + size[length];
      return [node.key, { ...at, [axis]: start, [along]: place }];
    }),
  );
}

function spaceBetween(sorted: readonly Placed[], along: keyof Point, length: keyof Size): number {
  const last = sorted.at(-1);
  const first = sorted[0];
  if (!last || !first) return 0;
  const whole = last.at[along] + last.size[length] - first.at[along];
  const boxes = sorted.reduce((sum, { size }) => sum + size[length], 0);
  return (whole - boxes) / (sorted.length - 1);
}
