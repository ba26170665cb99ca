/** Which values fit where somebody types: those whose names begin with what stands behind `${`. */
import { closing, readTemplate } from '@/flows/expressions/texts';
import type { KnownValue } from './known-values';

const MOST = 12;
/** A name as far as it was typed, which is not the end of another one. */
const WORD = /(?:^|[^\w.[\]"'])([A-Za-z_][\w.[\]"']*)$/;

export interface Offered {
  values: KnownValue[];
  /** The whole text with a name in the place of what was typed of it. */
  insert: (name: string) => string;
}

export function offeredAt(
  text: string,
  cursor: number,
  values: readonly KnownValue[],
  isBare: boolean,
): Offered {
  const inner = isBare ? text.slice(0, cursor) : openExpression(text.slice(0, cursor));
  const typed = inner === null ? null : WORD.exec(inner);
  const word = typed?.[1] ?? '';
  // Behind an operator, somebody has to begin a name first.
  if (inner === null || (word === '' && (isBare || inner.trim() !== '')))
    return { values: [], insert: () => text };
  const fitting = values.filter(({ name }) => name.startsWith(word) && name !== word);
  const rest = text.slice(cursor);
  // What was typed of the name behind the cursor is replaced, too.
  const typedBehind = /^[\w.[\]]*/.exec(rest)?.[0] ?? '';
  const after = rest.slice(typedBehind.length);
  // The brace that ends it is put in for a name alone: the rest of an expression may still follow, or is there already.
  const isAlone = inner.trim() === word;
  const end = isBare || !isAlone || isEnded(`\${${inner}${rest}`) ? '' : '}';
  return {
    values: fitting.slice(0, MOST),
    insert: (name) => `${text.slice(0, cursor - word.length)}${name}${end}${after}`,
  };
}

/** What stands before the cursor of the expression that it is in; null outside. */
function openExpression(before: string): string | null {
  const start = before.lastIndexOf('${');
  if (start < 0 || before[start - 1] === '$') return null;
  try {
    readTemplate(before.slice(start));
    return null;
  } catch {
    return before.slice(start + 2);
  }
}

/** Whether the expression at the start of a text has its brace. */
function isEnded(text: string): boolean {
  try {
    return closing(text, 0) > 0;
  } catch {
    return false;
  }
}

/** The text with a value put in at the cursor: as `${…}`, or by its bare name where the text is an expression. */
export function withValue(text: string, cursor: number, name: string, isBare: boolean): string {
  return `${text.slice(0, cursor)}${isBare ? name : `\${${name}}`}${text.slice(cursor)}`;
}
