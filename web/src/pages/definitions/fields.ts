/** The fields of each kind of entry, as the dialog asks for them. */
import { t } from '@lingui/core/macro';
import type { EntryKind } from './entries';

export interface EntryField {
  name: string;
  label: string;
  help?: string;
  /** `words` is a list written with commas; `code` is a formula or condition. */
  kind: 'text' | 'words' | 'choice' | 'code';
  choices?: readonly (readonly [value: string, label: string])[];
  /** Whether the field makes sense, given the values of the others. */
  when?: (values: Record<string, string>) => boolean;
  required?: boolean;
}

export const ROLES = [
  ['identifier', t`Identifier`],
  ['dimension', t`Dimension`],
  ['measure', t`Measure`],
  ['time', t`Time`],
  ['text', t`Text`],
] as const;

export const TOTALS = [
  ['', t`Not set`],
  ['sum', t`Sum`],
  ['avg', t`Average`],
  ['median', t`Median`],
  ['min', t`Smallest`],
  ['max', t`Largest`],
  ['count', t`Count`],
  ['count_distinct', t`Count of different values`],
] as const;

const ADDITIVE = [
  ['always', t`Always: an amount, a count`],
  [t`not over time`, t`Not over time: a stock, a population`],
  ['never', t`Never: a price, a rate, an age`],
] as const;

const SYNONYMS: EntryField = {
  name: 'synonyms',
  label: t`Other words for it`,
  help: t`Separate them with commas.`,
  kind: 'words',
};
const UNIT: EntryField = {
  name: 'unit',
  label: t`Unit`,
  help: t`Such as EUR, km or %.`,
  kind: 'text',
};
const isMeasure = (values: Record<string, string>) => values.role === 'measure';
const isTime = (values: Record<string, string>) => values.role === 'time';

export const FIELDS: Record<EntryKind, readonly EntryField[]> = {
  table: [
    {
      name: 'row',
      label: t`What one row is`,
      help: t`In the singular, such as invoice.`,
      kind: 'text',
    },
    SYNONYMS,
    { name: 'key', label: t`Key columns`, help: t`Separate them with commas.`, kind: 'words' },
    {
      name: 'name_column',
      label: t`Name column`,
      help: t`The column that people know a row by.`,
      kind: 'text',
    },
    {
      name: 'default_time',
      label: t`Time column`,
      help: t`Used where a question names none.`,
      kind: 'text',
    },
  ],
  column: [
    { name: 'role', label: t`Role`, kind: 'choice', choices: ROLES },
    { name: 'label', label: t`Name to show`, kind: 'text' },
    SYNONYMS,
    { name: 'total', label: t`Summarised by`, kind: 'choice', choices: TOTALS, when: isMeasure },
    { name: 'additive', label: t`Adds up`, kind: 'choice', choices: ADDITIVE, when: isMeasure },
    UNIT,
    {
      name: 'unit_column',
      label: t`Unit column`,
      help: t`The column that says the unit of each row, such as currency.`,
      kind: 'text',
      when: isMeasure,
    },
    {
      name: 'zone',
      label: t`Time zone`,
      help: t`Such as Europe/Vienna.`,
      kind: 'text',
      when: isTime,
    },
  ],
  metric: [
    {
      name: 'formula',
      label: t`Formula`,
      help: t`Such as sum(unit_price * quantity) or sum(late) / count(*).`,
      kind: 'code',
      required: true,
    },
    { name: 'over', label: t`Table`, kind: 'text', required: true },
    UNIT,
    SYNONYMS,
    {
      name: 'time',
      label: t`Time column`,
      help: t`Where it is not the table’s own.`,
      kind: 'text',
    },
  ],
  relationship: [
    { name: 'from_table', label: t`From table`, kind: 'text', required: true },
    { name: 'from_columns', label: t`From columns`, kind: 'words', required: true },
    { name: 'to_table', label: t`To table`, kind: 'text', required: true },
    { name: 'to_columns', label: t`To columns`, kind: 'words', required: true },
    {
      name: 'cardinality',
      label: t`Rows`,
      kind: 'choice',
      choices: [
        ['many_to_one', t`Many rows point at one`],
        ['one_to_one', t`Each row points at its own`],
      ],
    },
    {
      name: 'role',
      label: t`What the other row is`,
      help: t`Where several exist: origin, destination.`,
      kind: 'text',
    },
  ],
  segment: [
    {
      name: 'where',
      label: t`Condition`,
      help: t`Such as state in ('open', 'overdue').`,
      kind: 'code',
      required: true,
    },
    SYNONYMS,
  ],
  'default filter': [
    {
      name: 'where',
      label: t`Condition`,
      help: t`Such as cancelled = false.`,
      kind: 'code',
      required: true,
    },
    {
      name: 'say',
      label: t`How answers name it`,
      help: t`Such as without cancelled lines.`,
      kind: 'text',
      required: true,
    },
  ],
  question: [{ name: 'ask', label: t`Question`, kind: 'text', required: true }],
};

/** The values of a form from an entry. */
export function toForm(kind: EntryKind, value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    FIELDS[kind].map(({ name, kind: type, choices }) => {
      const given = value[name];
      if (type === 'words') return [name, Array.isArray(given) ? given.join(', ') : ''];
      return [name, typeof given === 'string' ? given : (choices?.[0]?.[0] ?? '')];
    }),
  );
}

/** The entry that a form says, on top of what the form does not ask for. */
export function fromForm(
  kind: EntryKind,
  values: Record<string, string>,
  before: Record<string, unknown>,
): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const { name, kind: type, when } of FIELDS[kind]) {
    const text = (values[name] ?? '').trim();
    // What is undefined is left out of the request.
    if (text === '' || (when && !when(values))) said[name] = undefined;
    else if (type === 'words') {
      said[name] = text
        .split(',')
        .map((word) => word.trim())
        .filter(Boolean);
    } else said[name] = text;
  }
  if (kind === 'column' && values.role !== 'measure') said.additive = 'never';
  return { ...before, ...said, by: undefined, state: 'confirmed' };
}
