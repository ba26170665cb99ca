/** Types of columns: what people may choose, and how each is called and aligned. */

const NAMES: [RegExp, string][] = [
  [/^VARCHAR/, 'text'],
  [/^(TINY|SMALL|BIG|HUGE|U\w*)?INT(EGER)?$/, 'whole number'],
  [/^U?(TINY|SMALL|BIG|HUGE)INT$/, 'whole number'],
  [/^DECIMAL/, 'decimal'],
  [/^(DOUBLE|FLOAT|REAL)/, 'number'],
  [/^BOOLEAN/, 'yes/no'],
  [/^TIMESTAMP/, 'date and time'],
  [/^DATE/, 'date'],
  [/^TIME/, 'time'],
  [/^JSON/, 'JSON'],
  [/^UUID/, 'UUID'],
  [/^BLOB/, 'bytes'],
];

/** The type in words; what is not known keeps its own name. */
export function typeName(type: string): string {
  return NAMES.find(([pattern]) => pattern.test(type))?.[1] ?? type.toLowerCase();
}

export function isNumeric(type: string): boolean {
  return ['whole number', 'decimal', 'number'].includes(typeName(type));
}

export function isMoment(type: string): boolean {
  return ['date', 'time', 'date and time'].includes(typeName(type));
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
  if (places !== undefined) return `decimal, ${places} ${places === '1' ? 'place' : 'places'}`;
  return type === 'TIMESTAMP WITH TIME ZONE' ? 'date and time with zone' : typeName(type);
}

/** What a column can be read as; its present type is always among them. */
export function typeChoices(current: string): { value: string; label: string }[] {
  const values = CHOICES.includes(current) ? CHOICES : [current, ...CHOICES];
  return values.map((value) => ({ value, label: choiceName(value) }));
}
