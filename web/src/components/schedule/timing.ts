/** When something repeats, as people choose it, and the cron expression that means the same. */
import { plural, t } from '@lingui/core/macro';
import { i18n } from '@/language';

export type Every = 'day' | 'week' | 'weekdays' | 'month' | 'hours' | 'minutes' | 'cron';

export interface Timing {
  every: Every;
  /** Hours and minutes, "08:00". */
  time: string;
  /** As cron counts them: Sunday is 0. In the order of the week, Monday first. */
  weekdays: readonly number[];
  /** A day of the month; L for the last one. */
  day: string;
  /** Every so many hours or minutes. */
  count: number;
  /** The expression of an expert. */
  cron: string;
}

/** Monday first. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0] as const;
export const WEEKDAY_NAMES = [
  t`Sunday`,
  t`Monday`,
  t`Tuesday`,
  t`Wednesday`,
  t`Thursday`,
  t`Friday`,
  t`Saturday`,
] as const;
const SHORT = WEEKDAY_NAMES.map((name) => name.slice(0, 3).toUpperCase());

/** Cron begins to count again at each full hour and day, so only these have the same distance each time. */
export const MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30] as const;
export const HOURS = [1, 2, 3, 4, 6, 8, 12] as const;

export const DEFAULT_CRON = '0 8 * * 1-5';
const START: Timing = {
  every: 'weekdays',
  time: '08:00',
  weekdays: [1, 2, 3, 4, 5],
  day: '1',
  count: 1,
  cron: DEFAULT_CRON,
};

const number = (text: string, from: number, to: number): number | null => {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : null;
};
const step = (text: string, allowed: readonly number[]): number | null => {
  const value = text === '*' ? 1 : number(/^\*\/(\d+)$/.exec(text)?.[1] ?? '', 1, 59);
  return value !== null && allowed.includes(value) ? value : null;
};
const weekday = (text: string): number | null => {
  const named = SHORT.indexOf(text.toUpperCase());
  return named === -1 ? number(text, 0, 7) : named;
};
const two = (value: number) => String(value).padStart(2, '0');

function weekdaysOf(text: string): number[] | null {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [from = null, to = from, more] = part.split('-').map(weekday);
    if (from === null || to === null || more !== undefined || to < from) return null;
    for (let day = from; day <= to; day += 1) found.add(day % 7);
  }
  return WEEKDAYS.filter((day) => found.has(day));
}

/** What the pickers show for an expression; `cron` for one that only an expert's field can show. */
export function timingOf(expression: string): Timing {
  const cron = expression.trim();
  const expert: Timing = { ...START, every: 'cron', cron };
  const [minutes = '', hours = '', day = '', month = '', week = '', ...more] = cron.split(/\s+/);
  if (more.length > 0 || month !== '*') return expert;
  if (hours === '*' && day === '*' && week === '*') {
    const count = step(minutes, MINUTES);
    if (count !== null) return { ...START, every: 'minutes', count, cron };
  }
  const minute = number(minutes, 0, 59);
  if (minute === null) return expert;
  const count = step(hours, HOURS);
  if (count !== null && day === '*' && week === '*')
    return { ...START, every: 'hours', count, time: `00:${two(minute)}`, cron };
  const hour = number(hours, 0, 23);
  if (hour === null) return expert;
  const time = `${two(hour)}:${two(minute)}`;
  if (week === '*') {
    if (day === '*') return { ...START, every: 'day', time, cron };
    const isDay = day === 'L' || number(day, 1, 31) !== null;
    return isDay ? { ...START, every: 'month', time, day, cron } : expert;
  }
  const weekdays = day === '*' ? weekdaysOf(week) : null;
  if (weekdays === null) return expert;
  return weekdays.length === 7
    ? { ...START, every: 'day', time, cron }
    : { ...START, every: weekdays.length === 1 ? 'week' : 'weekdays', time, weekdays, cron };
}

/** The expression; null while a time is not complete. */
export function cronOf({ every, time, weekdays, day, count, cron }: Timing): string | null {
  if (every === 'cron') return cron.trim();
  const every_ = count === 1 ? '*' : `*/${count}`;
  if (every === 'minutes') return `${every_} * * * *`;
  const [hour, minute] = /^\d\d:\d\d$/.test(time) ? time.split(':').map(Number) : [];
  if (hour === undefined || minute === undefined) return null;
  if (every === 'hours') return `${minute} ${every_} * * *`;
  const at = `${minute} ${hour}`;
  if (every === 'day') return `${at} * * *`;
  if (every === 'month') return `${at} ${day} * *`;
  return `${at} * * ${weekdays.join(',') === '1,2,3,4,5' ? '1-5' : weekdays.join(',')}`;
}

/** "Monday to Friday at 08:00"; an expression that the pickers cannot show as it is written. */
export function timingWords(expression: string): string {
  const { every, time, weekdays, day, count, cron } = timingOf(expression);
  switch (every) {
    case 'cron':
      return cron;
    case 'minutes':
      return plural(count, { one: `Every minute`, other: `Every ${count} minutes` });
    case 'hours':
      return plural(count, {
        one: `Every hour at minute ${Number(time.slice(3))}`,
        other: `Every ${count} hours at minute ${Number(time.slice(3))}`,
      });
    case 'day':
      return t`Every day at ${time}`;
    case 'month':
      return day === 'L'
        ? t`The last day of each month at ${time}`
        : t`Day ${day} of each month at ${time}`;
    case 'week':
    case 'weekdays': {
      const names = weekdays.map((each) => WEEKDAY_NAMES[each] ?? '');
      const days =
        weekdays.join(',') === '1,2,3,4,5'
          ? t`Monday to Friday`
          : t`Every ${new Intl.ListFormat(i18n.locale).format(names)}`;
      return t`${days} at ${time}`;
    }
  }
}

export interface Rhythm {
  every: 'day' | 'weekday' | 'week' | 'month';
  weekday: string;
  time: string;
}

/** The expression of a rhythm that a message named. */
export function rhythmCron({ every, weekday: on, time }: Rhythm): string | null {
  const weekdays = every === 'weekday' ? START.weekdays : [Number(on)];
  const kind = every === 'weekday' || every === 'week' ? 'weekdays' : every;
  return cronOf({ ...START, every: kind, weekdays, time });
}

export const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function timeZones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
}
