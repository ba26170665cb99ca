/** The text of expressions as the server reads it: where quoted texts end, and where `${ … }` stands in a text. */
import { t } from '@lingui/core/macro';

/** What is wrong, and at which character of the text; null when it is the whole. */
export class Mistake extends Error {
  readonly reason: string;
  readonly at: number | null;

  constructor(reason: string, at: number | null = null) {
    super(reason);
    this.reason = reason;
    this.at = at;
  }
}

/** A text's characters as the server counts them. */
export const characters = (text: string): string[] => Array.from(text);

/** Where the quoted text that starts here ends; refuses what confuses readers. */
export function quoteEnd(text: string, start: number): number {
  const quote = text.charAt(start);
  if (text.startsWith(quote.repeat(3), start))
    throw new Mistake(t`write texts in single quotes`, start);
  let end = start + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length || text.slice(start, end).includes('\n'))
    throw new Mistake(t`this text has no end`, start);
  return end + 1;
}

/** Positions of the characters that are not inside a quoted text. */
export function* outsideQuotes(text: string, start: number): Generator<number> {
  let position = start;
  while (position < text.length) {
    if (text[position] === '"' || text[position] === "'") {
      position = quoteEnd(text, position);
      continue;
    }
    if (text.startsWith('//', position))
      throw new Mistake(t`comments have no place here`, position);
    yield position;
    position += 1;
  }
}

export interface Piece {
  /** The expression between the braces. */
  text: string;
  /** Where it starts in the whole text. */
  start: number;
}

export interface Template {
  pieces: Piece[];
  /** Whether the text is one expression and nothing else, so that it gives a value of any type. */
  isWhole: boolean;
}

/** The expressions of a text; `$${` writes `${`. */
export function readTemplate(text: string): Template {
  const pieces: Piece[] = [];
  let plain = 0;
  let position = 0;
  for (;;) {
    const start = text.indexOf('${', position);
    if (start < 0) break;
    if (start > 0 && text[start - 1] === '$') {
      plain += 1;
      position = start + 2;
      continue;
    }
    plain += start - position;
    const end = closing(text, start);
    pieces.push({ text: text.slice(start + 2, end), start: start + 2 });
    position = end + 1;
  }
  plain += text.length - position;
  return { pieces, isWhole: pieces.length === 1 && plain === 0 };
}

/** The expression of a text that is one as a whole; `${ … }` around it is allowed. */
export function readBare(text: string): Piece {
  const bare = text.trim();
  const isWrapped = bare.startsWith('${') && bare.endsWith('}');
  const start = text.indexOf(bare);
  return isWrapped ? { text: bare.slice(2, -1), start: start + 2 } : { text: bare, start };
}

/** Where the expression ends that begins with `${` at `start`. */
export function closing(text: string, start: number): number {
  let depth = 0;
  for (const position of outsideQuotes(text, start + 2)) {
    if (text[position] === '{') depth += 1;
    else if (text[position] === '}') {
      if (depth === 0) return position;
      depth -= 1;
    }
  }
  throw new Mistake(t`a ''${'}'}' is missing at its end`, start);
}
