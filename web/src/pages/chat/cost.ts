/** What a turn used, in one line. */
import { t } from '@lingui/core/macro';
import type { TurnCost } from '@/api/chat-types';
import { durationText } from '@/components/duration';

const SMALLEST = 0.0001;

export function usdText(usd: string): string {
  const amount = Number(usd);
  if (amount > 0 && amount < SMALLEST) return '< $0.0001';
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

/** What has no known price is not to look like nothing; work without a model has no tokens. */
export function costText({ usd, is_priced: isPriced, tokens, seconds }: TurnCost): string {
  const parts = [];
  if (seconds > 0) parts.push(durationText(seconds * 1000));
  if (tokens > 0) parts.push(t`${tokens.toLocaleString('en')} tokens`);
  if (usd === null && tokens > 0) parts.push(t`price unknown`);
  if (usd !== null && Number(usd) > 0)
    parts.push(`${isPriced ? '' : t`more than `}${usdText(usd)}`);
  return parts.join(' · ');
}
