/** Lengths of time in few characters. */
import { t } from '@lingui/core/macro';

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min", "3 days". */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${Math.floor(seconds * 10) / 10} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(minutes, 'min', Math.floor(seconds % 60), 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return withRest(hours, 'h', minutes % 60, 'min');
  return t`${Math.floor(hours / 24)} days`;
}

function withRest(amount: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${amount} ${unit}` : `${amount} ${unit} ${rest} ${smaller}`;
}

/** From the start to the end, or to now. */
export function lengthBetween(start: string, end: string | null, now: number): string {
  return durationText((end === null ? now : Date.parse(end)) - Date.parse(start));
}
