/** What a rule would have done in the last 28 days: in words, and as a line with its limit. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Text } from '@mantine/core';
import type { Past } from '@/api/alerts';
import { useFormats } from '@/components/format';
import { amountOf } from './alert-words';
import classes from './alerts.module.css';

const WIDTH = 672;
const HEIGHT = 96;
const HOUR = 3_600_000;
const MOST_MOMENTS = 5;
const LEARNING_DAYS = 14;

interface Props {
  past: Past;
  figure: string;
  isUnusual: boolean;
}

export function PastDrawing({ past, figure, isUnusual }: Props) {
  const formats = useFormats();
  const { values, limits } = past;
  const most = Math.max(...numbers(values), ...numbers(limits), Number.MIN_VALUE);
  const x = (index: number) => (index / Math.max(1, values.length - 1)) * WIDTH;
  const y = (value: number) => HEIGHT - (value / most) * (HEIGHT - 4);
  const start = Date.parse(past.since);
  const at = (moment: string) => x((Date.parse(moment) - start) / HOUR);
  const latest = past.episodes.slice(-MOST_MOMENTS).reverse();
  const days = past.learned_days;
  return (
    <div className={classes.past} aria-live="polite">
      <Text fw={600} size="sm">
        {timesText(past.times)}
      </Text>
      {isUnusual && days !== null && days < LEARNING_DAYS && (
        <Text size="sm" c="dimmed">
          {t`There are ${formats.number(days)} of ${LEARNING_DAYS} days of history. Until then the rule cannot tell what is unusual and does not fire.`}
        </Text>
      )}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={classes.drawing ?? ''}
        role="img"
        aria-label={t`The figure over 28 days, at most ${amountOf(formats, figure, Math.max(0, ...numbers(values)))}`}
      >
        {past.episodes.map((each) => {
          const left = at(each.first);
          const right = each.last === null ? WIDTH : at(each.last);
          return (
            <rect
              key={`${each.first} ${each.flow_title ?? ''}`}
              x={left}
              y={0}
              width={Math.max(2, right - left)}
              height={HEIGHT}
              className={classes.episode}
            />
          );
        })}
        <path d={line(values, x, y)} className={classes.figure} />
        <path d={line(limits, x, y)} className={classes.limit} />
      </svg>
      <p className={classes.scale}>
        <span>{formats.date(past.since)}</span>
        <span>
          <Trans>
            {past.flow_title !== null && `${past.flow_title} · `}dashed: limit · shaded: alert open
          </Trans>
        </span>
        <span>{t`now`}</span>
      </p>
      {latest.length > 0 && (
        <ul className={classes.moments}>
          {latest.map((each) => (
            <li key={`${each.first} ${each.flow_title ?? ''}`}>
              {formats.dateTime(each.first)}
              {each.flow_title !== null && `, ${each.flow_title}`}:{' '}
              {amountOf(formats, figure, each.value)}
            </li>
          ))}
          {past.times > latest.length && <li>{t`${past.times - latest.length} earlier`}</li>}
        </ul>
      )}
    </div>
  );
}

function timesText(times: number): string {
  if (times === 0) return t`Would not have fired in the last 28 days.`;
  return plural(times, {
    one: `Would have fired once in the last 28 days.`,
    other: `Would have fired ${times} times in the last 28 days.`,
  });
}

function numbers(values: (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

/** A path with gaps where there is no value. */
function line(
  values: (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let isDrawn = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDrawn = false;
        return '';
      }
      const step = `${isDrawn ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDrawn = true;
      return step;
    })
    .join('');
}
