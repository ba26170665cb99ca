/** Which item of the inbox the keys act on. */
import type { Waiting } from '@/api/run-types';

/** Stays the same while the item waits. */
export function idOf({ run_id, key, approval }: Waiting): string {
  return approval?.id ?? `${run_id}:${key}`;
}

/** The item before or after; at the ends, the one that is selected. */
export function neighbour(
  items: Waiting[],
  selected: Waiting | undefined,
  step: 1 | -1,
): Waiting | undefined {
  const at = selected ? items.indexOf(selected) : -1;
  return items[at + step] ?? selected;
}
