/** Expressions: the web app accepts and refuses what the server does, at the same character and with the same words. */
import { describe, expect, it } from 'vitest';
import { checkText } from '@/flows/expressions/check';
import { kindOf } from '@/flows/expressions/types';
import { characters, readBare } from '@/flows/expressions/texts';
import vectors from './expressions.json';
import random from './random-expressions.json';
import { expressions as rules } from './vectors.json';

interface Case {
  text?: string;
  parts?: (string | number)[][];
}
const textOf = ({ text, parts }: Case) =>
  text ?? (parts ?? []).map(([part, times]) => String(part).repeat(Number(times))).join('');

const names = new Map(Object.entries(vectors.names));
const check = (text: string) => checkText(text, true, rules, { names });
/** Characters from 1, as the server counts them. */
const column = (text: string, at: number | null) =>
  at === null ? null : characters(text.slice(0, at)).length + 1;

describe('an expression', () => {
  it.each(vectors.given)('gives $type: $text', ({ text, value, type }) => {
    expect(check(text)).toEqual({ reason: null, at: null, type });
    const kind = kindOf(value).replace('integer', 'number');
    const word = (rules.words as Record<string, string>)[kind];
    expect(type === 'any value' || type.split(' or ').includes(word ?? '')).toBe(true);
  });

  it.each(vectors.unreadable.map((each) => ({ ...each, text: textOf(each) })))(
    'cannot be read: $text',
    ({ text, reason, column: wanted }) => {
      const found = check(text);
      expect([found.reason, column(text, found.at)]).toEqual([reason, wanted]);
    },
  );

  it.each(vectors.mistyped)('has types that do not fit: $text', ({ text, reason, column: at }) => {
    const found = check(text);
    expect([found.reason, column(text, found.at)]).toEqual([reason, at]);
  });
});

interface RandomCase {
  text: string;
  type?: string;
  reason?: string;
  column?: number | null;
}

it('is judged as by the server, for random texts', () => {
  const differences = (random as RandomCase[]).filter(({ text, type, reason, column: wanted }) => {
    const found = check(text);
    const { start } = readBare(text);
    const at = found.at === null ? null : column(text.slice(start), found.at - start);
    return found.reason === null ? found.type !== type : found.reason !== reason || at !== wanted;
  });
  expect(differences).toEqual([]);
});

describe('a text with expressions', () => {
  it.each(vectors.texts)('is accepted: $text', ({ text }) => {
    expect(checkText(text, false, rules, { names }).reason).toBeNull();
  });

  it.each(vectors.broken_texts)('is refused: $text', ({ text, reason, place }) => {
    const found = checkText(text, false, rules, { names });
    expect([found.reason, column(text, found.at)]).toEqual([reason, place]);
  });
});
