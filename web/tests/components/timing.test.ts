import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cronOf, rhythmCron, timingOf, timingWords } from '@/components/schedule/timing';

describe('an expression in the pickers', () => {
  it.each([
    ['0 8 * * 1-5', 'weekdays', 'Monday to Friday at 08:00'],
    ['30 7 * * MON,thu', 'weekdays', 'Every Monday and Thursday at 07:30'],
    ['0 9 * * 7', 'week', 'Every Sunday at 09:00'],
    ['5 2 * * *', 'day', 'Every day at 02:05'],
    ['0 6 1 * *', 'month', 'Day 1 of each month at 06:00'],
    ['0 6 L * *', 'month', 'The last day of each month at 06:00'],
    ['*/15 * * * *', 'minutes', 'Every 15 minutes'],
    ['* * * * *', 'minutes', 'Every minute'],
    ['20 */6 * * *', 'hours', 'Every 6 hours at minute 20'],
  ])('shows %s as %s', (cron, every, words) => {
    expect(timingOf(cron).every).toBe(every);
    expect(timingWords(cron)).toBe(words);
  });

  it.each([
    '*/7 * * * *', // not the same distance across a full hour
    '0 8,17 * * *',
    '0 8 * 1 *',
    '0 8 1 * 1', // cron takes the one or the other day
    '0 8 * * 1#2',
    '0 8 * * 5-1',
    '0 25 * * *',
    '0 0 8 * * *',
    'nonsense',
  ])('leaves %s to the expert', (cron) => {
    expect(timingOf(cron)).toMatchObject({ every: 'cron', cron });
    expect(cronOf(timingOf(cron))).toBe(cron);
  });

  it('opens what the pickers wrote as it was chosen', () => {
    const two = (value: number) => String(value).padStart(2, '0');
    const time = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([hour, minute]) => `${two(hour)}:${two(minute)}`);
    const weekdays = fc
      .subarray([1, 2, 3, 4, 5, 6, 0], { minLength: 2, maxLength: 6 })
      .map((days) => days);
    const day = fc.oneof(fc.integer({ min: 1, max: 31 }).map(String), fc.constant('L'));
    const every = fc.constantFrom('day', 'weekdays', 'month', 'hours', 'minutes');
    fc.assert(
      fc.property(every, time, weekdays, day, fc.constantFrom(1, 2, 3, 4, 6, 12), (...chosen) => {
        const [kind, at, days, date, count] = chosen;
        const given = {
          every: kind,
          time: at,
          weekdays: days,
          day: date,
          count,
          cron: '',
        } as const;
        const cron = cronOf(given) ?? '';
        const opened = timingOf(cron);
        expect(opened.every).toBe(kind);
        expect(cronOf(opened)).toBe(cron);
      }),
    );
  });

  it('waits for a complete time', () => {
    expect(cronOf({ ...timingOf('0 8 * * *'), time: '' })).toBeNull();
  });

  it('takes over the rhythm that a message names', () => {
    expect(rhythmCron({ every: 'week', weekday: '1', time: '08:00' })).toBe('0 8 * * 1');
    expect(rhythmCron({ every: 'weekday', weekday: '1', time: '07:30' })).toBe('30 7 * * 1-5');
    expect(rhythmCron({ every: 'month', weekday: '1', time: '06:00' })).toBe('0 6 1 * *');
  });
});
