/** Types of columns: what people may choose, and how each is called and aligned. */
import { plural, t } from '@lingui/core/macro';

const NAMES: [RegExp, string][] = [
  [/^VARCHAR/, t`text`],
  [/^(TINY|SMALL|BIG|HUGE|U\w*)?INT(EGER)?$/, t`whole number`],
  [/^U?(TINY|SMALL|BIG|HUGE)INT$/, t`whole number`],
  [/^DECIMAL/, t`decimal`],
  [/^(DOUBLE|FLOAT|REAL)/, t`number`],
  [/^BOOLEAN/, t`yes/no`],
  [/^TIMESTAMP/, t`date and time`],
  [/^DATE/, t`date`],
  [/^TIME/, t`time`],
  [/^JSON/, t`JSON`],
  [/^UUID/, t`UUID`],
  [/^BLOB/, t`bytes`],
];

/** The type in words; what is not known keeps its own name. */
export function typeName(type: string): string {
  return NAMES.find(([pattern]) => pattern.test(type))?.[1] ?? type.toLowerCase();
}

export function isNumeric(type: string): boolean {
  return /^((U?(TINY|SMALL|BIG|HUGE)|U\w*)?INT(EGER)?$|DECIMAL|DOUBLE|FLOAT|REAL)/.test(type);
}

export function isMoment(type: string): boolean {
  return /^(TIME|DATE)/.test(type);
}

const CHOICES = [
  'VARCHAR',
  'BIGINT',
  'DECIMAL(18,2)',
  'DECIMAL(18,4)',
  'DOUBLE',
  'BOOLEAN',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE',
  'UUID',
  'JSON',
];

/** The type in words that tell it from the other choices. */
function choiceName(type: string): string {
  const places = /^DECIMAL\(\d+,(\d+)\)$/.exec(type)?.[1];
  if (places !== undefined) {
    return plural(Number(places), {
      one: `decimal, ${places} place`,
      other: `decimal, ${places} places`,
    });
  }
  return type === 'TIMESTAMP WITH TIME ZONE' ? t`date and time with zone` : typeName(type);
}

/** What a column can be read as; its present type is always among them. */
export function typeChoices(current: string): { value: string; label: string }[] {
  const values = CHOICES.includes(current) ? CHOICES : [current, ...CHOICES];
  return values.map((value) => ({ value, label: choiceName(value) }));
}
