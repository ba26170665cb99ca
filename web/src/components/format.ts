/** Dates, numbers and sizes the way the reader's locale writes them. */
import { createContext, use } from 'react';
import { i18n } from '@/language';

export interface Formats {
  locale: string;
  number: (value: number) => string;
  bytes: (value: number) => string;
  date: (iso: string) => string;
  dateTime: (iso: string) => string;
  time: (iso: string) => string;
  /** "3 minutes ago", "in 2 days"; what lies further away than a month is written as a date. */
  relative: (iso: string, now?: number) => string;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;

/** The first of the wanted locales that the browser can format; an unknown one must not break a page. */
export function resolveLocale(...wanted: (string | null | undefined)[]): string {
  for (const candidate of wanted) {
    try {
      if (candidate && Intl.DateTimeFormat.supportedLocalesOf(candidate).length > 0)
        return candidate;
    } catch {
      // Not a well-formed language tag: try the next.
    }
  }
  return 'en';
}

export function createFormats(locale: string, timeZone?: string): Formats {
  const zone = timeZone === undefined ? {} : { timeZone };
  const number = new Intl.NumberFormat(locale);
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...zone });
  const dateTime = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    ...zone,
  });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...zone });
  // Phrases such as "3 minutes ago" stand in sentences of the app, whatever the locale of the numbers.
  const relative = new Intl.RelativeTimeFormat(i18n.locale, { numeric: 'auto' });

  const formatRelative = (iso: string, now = Date.now()) => {
    const seconds = Math.round((Date.parse(iso) - now) / 1000);
    const distance = Math.abs(seconds);
    if (Number.isNaN(seconds)) return iso;
    if (distance < 45) return relative.format(0, 'second');
    if (distance < HOUR) return relative.format(Math.round(seconds / MINUTE), 'minute');
    if (distance < DAY) return relative.format(Math.round(seconds / HOUR), 'hour');
    if (distance < MONTH) return relative.format(Math.round(seconds / DAY), 'day');
    return date.format(new Date(iso));
  };

  return {
    locale,
    number: (value) => number.format(value),
    bytes: (value) => formatBytes(locale, value),
    date: (iso) => ofValid(date, iso),
    dateTime: (iso) => ofValid(dateTime, iso),
    time: (iso) => ofValid(time, iso),
    relative: formatRelative,
  };
}

function ofValid(format: Intl.DateTimeFormat, iso: string): string {
  const moment = new Date(iso);
  return Number.isNaN(moment.getTime()) ? iso : format.format(moment);
}

function formatBytes(locale: string, value: number): string {
  const step = value < 1 ? 0 : Math.floor(Math.log10(value) / 3);
  const index = Math.min(step, BYTE_UNITS.length - 1);
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: BYTE_UNITS[index] ?? 'byte',
    unitDisplay: index === 0 ? 'long' : 'short',
    maximumFractionDigits: index === 0 ? 0 : 1,
  }).format(value / 1000 ** index);
}

export const FormatsContext = createContext<Formats>(
  createFormats(resolveLocale(globalThis.navigator.language)),
);

export function useFormats(): Formats {
  return use(FormatsContext);
}
