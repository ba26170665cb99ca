/** Which lines of a text went and came, as a walk along the longest common part. */

export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

export function lineDiff(before: string, after: string): DiffLine[] {
  const left = before.split('\n');
  const right = after.split('\n');
  const common = commonLengths(left, right);
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const old = left[i];
    const made = right[j];
    if (old !== undefined && old === made) {
      found.push({ kind: 'same', text: old });
      i += 1;
      j += 1;
    } else if (
      old !== undefined &&
      (made === undefined || (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))
    ) {
      found.push({ kind: 'removed', text: old });
      i += 1;
    } else {
      found.push({ kind: 'added', text: made ?? '' });
      j += 1;
    }
  }
  return found;
}

/** How many lines the rests from i and j have in common. */
function commonLengths(left: string[], right: string[]): number[][] {
  const lengths = Array.from({ length: left.length + 1 }, () =>
    new Array<number>(right.length + 1).fill(0),
  );
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (!row) continue;
      row[j] =
        left[i] === right[j]
          ? (lengths[i + 1]?.[j + 1] ?? 0) + 1
          : Math.max(lengths[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}
