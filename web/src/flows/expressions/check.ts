/** Checks the expressions in a text while somebody types, by the rules of the server. */
import { t } from '@lingui/core/macro';
import { Mistake, readBare, readTemplate } from './texts';
import { type ExpressionRules, readExpression, type Tree } from './tree';
import { type NameTypes, pathsOf, type Schema, type Type, TypeCheck } from './types';

export interface Found {
  /** What is wrong; null when the text can be used. */
  reason: string | null;
  /** The character it is about, from 0, in the whole text; null when it is about all of it. */
  at: number | null;
  /** What it gives, when it is one expression. */
  type: string;
}

export interface Scope {
  names: NameTypes;
  /** Says what is wrong with a reference; null when it can be read here. */
  unreadable?: (path: readonly string[]) => string | null;
  /** What the field takes. */
  wanted?: Schema;
}

export function checkText(
  text: string,
  isBare: boolean,
  rules: ExpressionRules,
  { names, unreadable, wanted }: Scope,
): Found {
  let start = 0;
  try {
    const { pieces, isWhole } = isBare
      ? { pieces: [readBare(text)], isWhole: true }
      : readTemplate(text);
    const check = new TypeCheck(rules, names);
    let given: Type | null = null;
    for (const piece of pieces) {
      start = piece.start;
      const tree = readExpression(piece.text, rules);
      requireReadable(tree, unreadable);
      given = check.type(tree);
    }
    start = 0;
    if (pieces.length === 0 || !given) return { reason: null, at: null, type: '' };
    if (!isWhole) given = { kinds: new Set(['string']), schema: true, root: true };
    requireFitting(check, given, wanted);
    return { reason: null, at: null, type: isWhole ? check.words(given) : '' };
  } catch (problem) {
    if (!(problem instanceof Mistake)) throw problem;
    const at = problem.at === null ? (start === 0 ? null : start) : start + problem.at;
    return { reason: problem.reason, at, type: '' };
  }
}

function requireReadable(tree: Tree, unreadable: Scope['unreadable']): void {
  if (!unreadable) return;
  for (const path of pathsOf(tree)) {
    const reason = unreadable(path.names);
    if (reason !== null) throw new Mistake(reason, path.start);
  }
}

function requireFitting(check: TypeCheck, given: Type, wanted: Schema | undefined): void {
  if (wanted === undefined) return;
  const { kinds } = check.ofSchema(wanted, wanted);
  if (![...given.kinds].some((kind) => kinds.has(kind))) {
    const takes = check.words(check.ofSchema(wanted, wanted));
    throw new Mistake(t`must be ${takes}; the expression gives ${check.words(given)}`);
  }
}
