/** The rules document: read for showing, and changed in place so that its comments stay. */
import { plural, t } from '@lingui/core/macro';
import { parse, parseDocument } from 'yaml';
import type { Pair, Side } from '@/api/resolve';

export interface Level {
  test: string;
  at_least?: number;
  at_most?: number;
  field?: string;
  m?: number;
  u?: number;
}

export interface Rules {
  entity?: string;
  fields?: { name: string; role: string; columns: Record<string, (string | string[])[]> }[];
  blocking?: {
    parts: { field: string; start?: number; end?: number; nearest?: number }[];
    pairs?: number;
  }[];
  comparisons?: { field: string; rare_values_count_more?: boolean; levels: Level[] }[];
  thresholds?: Partial<Thresholds>;
  survivorship?: { fields: string[]; rule: string }[];
  decisions?: Decision[];
  notes?: string[];
}

export interface Thresholds {
  match: number;
  review_from: number;
  review_to: number;
}

export interface Decision {
  left: { table: string; row: string };
  right: { table: string; row: string };
  same: boolean;
}

export const DEFAULT_THRESHOLDS: Thresholds = { match: 0.9, review_from: 0.1, review_to: 0.99 };

/** The rules, or null while the text is not YAML; the server checks the rest. */
export function readRules(text: string): Rules | null {
  try {
    const found: unknown = parse(text);
    return typeof found === 'object' && found !== null ? found : null;
  } catch {
    return null;
  }
}

/** The band to look at always holds the threshold itself. */
export function withThreshold(text: string, match: number): string {
  const document = parseDocument(text);
  const known = { ...DEFAULT_THRESHOLDS, ...readRules(text)?.thresholds };
  document.setIn(['thresholds', 'match'], match);
  document.setIn(['thresholds', 'review_from'], Math.min(known.review_from, match));
  document.setIn(['thresholds', 'review_to'], Math.max(known.review_to, match));
  return document.toString({ lineWidth: 0 });
}

const reference = ({ table, row }: Pick<Side, 'table' | 'row'>) => ({ table, row });
const keyOf = ({ left, right }: Pick<Decision, 'left' | 'right'>) =>
  [left, right]
    .map(({ table, row }) => `${table}\n${row}`)
    .toSorted((a, b) => a.localeCompare(b))
    .join('\n\n');

/** What a person said about this pair; undefined when nobody said anything. */
export function decisionOn(rules: Rules | null, pair: Pick<Pair, 'left' | 'right'>) {
  return rules?.decisions?.find((known) => keyOf(known) === keyOf(pair))?.same;
}

/** Adds a person's word on two rows; an earlier word on the same two gives way, null only takes it back. */
export function withDecision(
  text: string,
  { left, right }: Pick<Pair, 'left' | 'right'>,
  same: boolean | null,
): string {
  const document = parseDocument(text);
  const wanted = { left: reference(left), right: reference(right) };
  const kept = (readRules(text)?.decisions ?? []).filter((known) => keyOf(known) !== keyOf(wanted));
  const decisions = same === null ? kept : [...kept, { ...wanted, same }];
  if (decisions.length > 0) document.set('decisions', decisions);
  else document.delete('decisions');
  return document.toString({ lineWidth: 0 });
}

/** `person_name` reads as "person name". */
export const inWords = (name: string) => name.replaceAll('_', ' ');

/** One degree of agreement in words, as in "at most 2 edits". */
export function levelInWords({ test, at_least, at_most, field }: Level): string {
  const about = field === undefined ? '' : `${inWords(field)}: `;
  const words: Record<string, string> = {
    same: t`the same`,
    same_words: t`the same words in another order`,
    words_within: t`the words of one are within the other`,
    similar: t`similar from ${at_least ?? ''}`,
    similar_words: t`similar words from ${at_least ?? ''}`,
    rare_words: t`words alike from ${at_least ?? ''}, rare ones counting more`,
    edits: plural(at_most ?? 0, {
      one: `at most ${at_most ?? ''} edit`,
      other: `at most ${at_most ?? ''} edits`,
    }),
    same_start: t`the same first ${at_least ?? ''} characters`,
    same_end: t`the same last ${at_least ?? ''} characters`,
    same_initial: t`the same initial`,
    days_apart: t`at most ${at_most ?? ''} days apart`,
    number_apart: t`at most ${at_most ?? ''} apart`,
    share_apart: t`at most ${Math.round((at_most ?? 0) * 100)}% apart`,
    contained: t`one contains the other`,
    otherwise: t`otherwise`,
  };
  if (test === 'swapped_with') return t`swapped with ${inWords(field ?? '')}`;
  if (test === 'missing') return t`${inWords(field ?? '')} missing`;
  return about + (words[test] ?? inWords(test));
}

/** The evidence of a level in bits, for (+) or against (−); null while it is not known. */
export function evidenceOf({ m, u }: Level): number | null {
  return m === undefined || u === undefined ? null : Math.log2(m / u);
}
