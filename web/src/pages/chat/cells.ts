/** Cells of a result as the reader writes numbers and dates; a whole column reads alike, and text stays as it is. */
import type { Formats } from '@/components/format';
import type { ValueTable } from '@/components/value-table';

type Look = 'number' | 'text';
type Write = (cell: string) => string;

interface WrittenTable {
  columns: { name: string; look: Look }[];
  rows: (string | null)[][];
}

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL|INT\d+)\b/i;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const WHOLE = /^-?\d+(\.0+)?$/;
const DAY = /^(\d{4}-\d{2}-\d{2})(?:[T ]00:00:00(?:\.0+)?)?$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const WITH_ZONE = /(Z|[+-]\d{2}(:?\d{2})?)$/;
/** Whole numbers with such names count nothing: 2025 is a year and not 2,025. */
const PLAIN = new Set(
  'id no number code year month quarter week day hour zip postcode key version'.split(' '),
);
const MONEY_DECIMALS = 2;
const TINY_DECIMALS = 6;

export function writtenTable(table: ValueTable, formats: Formats): WrittenTable {
  const { columns, rows, types } = table;
  const writers = columns.map((name, index) => {
    const cells = rows.flatMap((row) => row[index] ?? []);
    return writerOf(name, types?.[index] ?? '', cells, formats);
  });
  return {
    columns: columns.map((name, index) => ({ name, look: writers[index]?.look ?? 'text' })),
    rows: rows.map((row) =>
      row.map((cell, index) => (cell === null ? null : (writers[index]?.write(cell) ?? cell))),
    ),
  };
}

const asItIs: Write = (cell) => cell;

function writerOf(name: string, type: string, cells: string[], formats: Formats) {
  const all = (pattern: RegExp) => cells.length > 0 && cells.every((cell) => pattern.test(cell));
  if (all(NUMBER)) {
    // A text such as 00123 is told by its type; without one it is only set to the right.
    const write = NUMERIC.test(type) ? numberWriter(name, cells, formats.locale) : asItIs;
    return { look: 'number' as const, write };
  }
  return { look: 'text' as const, write: timeWriter(name, type, all, formats) };
}

function numberWriter(name: string, cells: string[], locale: string): Write {
  const words = name.toLowerCase().replaceAll('_', ' ').split(/\s+/);
  const isWhole = cells.every((cell) => WHOLE.test(cell));
  if (isWhole && PLAIN.has(words.at(-1) ?? '')) return asItIs;
  const numbers = cells.map(Number);
  const isShare = words.includes('share') && numbers.every((each) => each >= 0 && each <= 1);
  const isTiny = numbers.every((each) => Math.abs(each) < 0.01);
  const fraction = isTiny ? TINY_DECIMALS : MONEY_DECIMALS;
  const decimals = isWhole ? 0 : fraction;
  const format = isShare
    ? new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
    : new Intl.NumberFormat(locale, {
        minimumFractionDigits: isTiny ? 0 : decimals,
        maximumFractionDigits: decimals,
      });
  // As text: sums of money have more digits than a JavaScript number keeps.
  return (cell) => format.format(cell as Intl.StringNumericLiteral);
}

function timeWriter(
  name: string,
  type: string,
  all: (pattern: RegExp) => boolean,
  { locale, dateTime }: Formats,
): Write {
  const isTime = /^(DATE|TIMESTAMP)/i.test(type);
  if (!isTime) {
    // Days have no hours, whoever names them so.
    return all(/^\d{4}-\d{2}-\d{2}T00:00:00(\.0+)?$/) ? (cell) => cell.slice(0, 10) : asItIs;
  }
  if (all(DAY)) return dayWriter(name, all, locale);
  if (all(WITH_ZONE)) return dateTime;
  if (!all(MOMENT)) return asItIs;
  // Without a zone it is the time on some wall: shown as it stands there.
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return (cell) => format.format(new Date(`${cell.replace(' ', 'T')}Z`));
}

function dayWriter(name: string, all: (pattern: RegExp) => boolean, locale: string): Write {
  const unit = name.toLowerCase().split(' of ')[0] ?? '';
  const timeZone = 'UTC';
  const at = (cell: string) => new Date(`${cell.slice(0, 10)}T00:00:00Z`);
  if (unit === 'year' && all(/^\d{4}-01-01/)) return (cell) => cell.slice(0, 4);
  if (unit === 'quarter' && all(/^\d{4}-(01|04|07|10)-01/)) {
    return (cell) => `Q${Math.ceil(Number(cell.slice(5, 7)) / 3)} ${cell.slice(0, 4)}`;
  }
  const isMonth = unit === 'month' && all(/^\d{4}-\d{2}-01/);
  const format = isMonth
    ? new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone })
    : new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  return (cell) => format.format(at(cell));
}
