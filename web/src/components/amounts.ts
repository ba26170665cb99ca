/** Amounts of money and counts of tokens in few characters. */
import { t } from '@lingui/core/macro';
import type { Formats } from './format';

/** Dollars with as many digits as say something: "$12.30", "$0.0042". */
export function dollars(formats: Formats, value: number): string {
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
  return new Intl.NumberFormat(formats.locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

/** An expected amount with its range, where there is one: "$12.30 ($9.00 to $15.00)". */
export function dollarRange(
  formats: Formats,
  { usd, low, high }: { usd: number; low: number | null; high: number | null },
): string {
  if (low === null || high === null) return dollars(formats, usd);
  return t`${dollars(formats, usd)} (${dollars(formats, low)} to ${dollars(formats, high)})`;
}

/** "950", "12K", "3.4M". */
export function compact(formats: Formats, value: number): string {
  return new Intl.NumberFormat(formats.locale, {
    notation: 'compact',
    maximumFractionDigits: 1,
  }).format(value);
}

/** How much larger it is than before, such as "+20%"; null where there is nothing to compare with. */
export function change(now: number, before: number): string | null {
  if (before === 0) return null;
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? '+' : ''}${percent}%`;
}
