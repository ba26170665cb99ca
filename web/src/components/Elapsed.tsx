/** How long something took, or has taken so far; and how long until something ends. */
import { t } from '@lingui/core/macro';
import { Hourglass } from 'lucide-react';
import { Chip } from './Chip';
import { durationText, lengthBetween } from './duration';
import { useFormats } from './format';
import { useNow } from './use-now';

export function Elapsed({ start, end }: { start: string; end: string | null }) {
  const now = useNow(end === null);
  return <span className="tabular">{lengthBetween(start, end, now)}</span>;
}

const SOON = 5 * 60_000;

/** The time that is left for an answer. */
export function Countdown({ until }: { until: string }) {
  const now = useNow();
  const formats = useFormats();
  const left = Date.parse(until) - now;
  const word = left <= 0 ? t`Time is up` : t`${durationText(left)} left`;
  return (
    <span className="tabular">
      <Chip
        word={word}
        icon={Hourglass}
        tone={left < SOON ? 'bad' : 'neutral'}
        title={t`Ends ${formats.dateTime(until)}`}
      />
    </span>
  );
}
