/** Text that is being written, by part of a turn: the answer, or what an agent says in a step. */

export interface LivePart {
  text: string;
  /** Counted as the server counts, by whole characters. */
  length: number;
}

export type LiveText = Readonly<Record<string, LivePart>>;

/** An event with offset 0 starts the part anew: so does every connection. */
export function withToken(live: LiveText, part: string, offset: number, text: string): LiveText {
  const known = live[part] ?? { text: '', length: 0 };
  const kept =
    offset >= known.length ? known.text : Array.from(known.text).slice(0, offset).join('');
  const length = Math.min(offset, known.length) + Array.from(text).length;
  return { ...live, [part]: { text: kept + text, length } };
}

export function withoutPart(live: LiveText, part: string): LiveText {
  return Object.fromEntries(Object.entries(live).filter(([name]) => name !== part));
}
