/** Undo and redo as a stack of what the document was: every gesture is one entry, and gives the same bytes back. */
export interface History<State> {
  past: readonly State[];
  now: State;
  future: readonly State[];
  /** What the last change was about; changes of the same kind in a row, such as typing, are one entry. */
  about: string | null;
}

const MOST = 200;

export function startHistory<State>(now: State): History<State> {
  return { past: [], now, future: [], about: null };
}

export function record<State>(
  history: History<State>,
  now: State,
  about: string | null = null,
): History<State> {
  const isSameGesture = about !== null && about === history.about;
  const past = isSameGesture ? history.past : [...history.past, history.now].slice(-MOST);
  return { past, now, future: [], about };
}

/** As many entries stay when the document changes below them; each of them has to be made again. */
const MOST_MOVED = 50;

/** Somebody else's changes came in: Undo takes back one's own gestures on top of them, and never theirs. */
export function moveOnto<State>(
  history: History<State>,
  now: State,
  moved: (before: State) => State,
): History<State> {
  return { past: history.past.slice(-MOST_MOVED).map(moved), now, future: [], about: null };
}

export function undo<State>(history: History<State>): History<State> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  const future = [history.now, ...history.future];
  return { past: history.past.slice(0, -1), now: before, future, about: null };
}

export function redo<State>(history: History<State>): History<State> {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.now], now: next, future, about: null };
}
