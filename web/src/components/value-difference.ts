/** What differs between two values, part by part. */

export interface Difference {
  /** Names and places on the way to the part; empty for the value itself. */
  path: readonly string[];
  /** undefined where the part was not there. */
  before: unknown;
  after: unknown;
}

/** The first parts that differ, in the order of the second value; a list is compared item by item. */
export function differences(before: unknown, after: unknown, most: number): Difference[] {
  const found: Difference[] = [];
  const look = (path: readonly string[], old: unknown, now: unknown) => {
    if (found.length >= most || Object.is(old, now)) return;
    const [left, right] = [partsOf(old), partsOf(now)];
    if (left === null || right === null || Array.isArray(old) !== Array.isArray(now)) {
      found.push({ path, before: old, after: now });
      return;
    }
    for (const name of new Set([...right.keys(), ...left.keys()])) {
      look([...path, name], left.get(name), right.get(name));
    }
  };
  look([], before, after);
  return found;
}

function partsOf(value: unknown): Map<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}
