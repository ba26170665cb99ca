/** Folded spans: positions with how many spans are below each, which are not shown. */
export type Folds = ReadonlyMap<number, number>;

/** Positions that are folded and not inside another fold, in order. */
export function outermost(folds: Folds): [number, number][] {
  const found: [number, number][] = [];
  let end = -1;
  for (const [at, size] of [...folds].sort(([a], [b]) => a - b)) {
    if (at <= end) continue;
    found.push([at, size]);
    end = at + size;
  }
  return found;
}

/** The row at which a position is shown; that of the fold around it where it is hidden. */
export function indexOf(position: number, folds: Folds): number {
  let hidden = 0;
  for (const [at, size] of outermost(folds)) {
    if (at >= position) break;
    if (position <= at + size) return at - hidden;
    hidden += size;
  }
  return position - hidden;
}

export function toggled(folds: Folds, position: number, size: number): Folds {
  const next = new Map(folds);
  if (!next.delete(position)) next.set(position, size);
  return next;
}

/** The folds with as many spans below each as there are now: a run under way adds to them. */
export function resized(folds: Folds, shown: readonly { position: number; size: number }[]): Folds {
  const grown = shown.filter(({ position, size }) => {
    const known = folds.get(position);
    return known !== undefined && known !== size;
  });
  if (grown.length === 0) return folds;
  return new Map([...folds, ...grown.map(({ position, size }) => [position, size] as const)]);
}

/** The position of the next span that failed, after the last one the first again. */
export function nextError(
  failed: readonly { position: number }[],
  from: number,
  direction: 1 | -1,
): number | null {
  const positions = failed.map(({ position }) => position).sort((a, b) => a - b);
  if (direction === 1) return positions.find((at) => at > from) ?? positions[0] ?? null;
  return positions.filter((at) => at < from).at(-1) ?? positions.at(-1) ?? null;
}
