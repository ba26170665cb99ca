/** Finds the figures of an answer in its text. */
import type { Figure } from '@/api/chat-types';

export type Piece = string | Figure;

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Cuts texts where figures stand; part of a longer number is none. */
export function figureFinder(figures: Figure[]): (text: string) => Piece[] {
  const known = new Map(figures.map((figure) => [figure.text, figure]));
  const texts = [...known.keys()].filter(Boolean).sort((a, b) => b.length - a.length);
  if (texts.length === 0) return (text) => [text];
  const choice = texts.map(escaped).join('|');
  // Parts of dates and times are no figures either.
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\d]|\d[.,:/T-])(${choice})(?!\d|[.,:/T-]\d)`,
    'gu',
  );
  return (text) =>
    text
      .split(pattern)
      .filter((piece) => piece !== '')
      .map((piece) => known.get(piece) ?? piece);
}
