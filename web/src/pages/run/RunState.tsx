/** How the run stands: status and reason, how far it is, and what it used of its budget. */
import { plural, t } from '@lingui/core/macro';
import { Progress, Text } from '@mantine/core';
import type { RunDetail, Usage } from '@/api/run-types';
import { StatusChip } from '@/components/Chip';
import { durationText } from '@/components/duration';
import { type Formats, useFormats } from '@/components/format';
import { percentOf, reasonText } from '@/components/run-status';
import classes from './run.module.css';

export function RunState({ run }: { run: RunDetail }) {
  const percent = percentOf(run.progress);
  const reason = run.error?.message ?? reasonText(run.reason);
  return (
    <div className={classes.state}>
      <div className={classes.status} role="status">
        <StatusChip status={run.status} />
        {run.control === 'pause' && run.status !== 'cancelled' && (
          <Text span size="sm">
            {t`Paused`}
          </Text>
        )}
        {reason !== null && (
          <Text span size="sm" className={classes.reason}>
            {reason}
          </Text>
        )}
      </div>
      {percent !== null && run.progress && (
        <div className={classes.meter}>
          <Text size="xs" c="dimmed">
            {t`Progress`}
          </Text>
          <Text size="sm" className="tabular">
            {plural(run.progress.total, {
              one: `${percent} % · ${run.progress.done} of ${run.progress.total} step`,
              other: `${percent} % · ${run.progress.done} of ${run.progress.total} steps`,
            })}
          </Text>
          <Progress
            value={percent}
            size="xs"
            color={run.status === 'failed' ? 'red' : 'steward'}
            aria-label={t`Progress`}
          />
        </div>
      )}
      {Object.entries(run.usage)
        .filter(([, usage]) => usage.limit !== null || Number(usage.spent) > 0)
        .map(([name, usage]) => (
          <Meter key={name} name={name} usage={usage} />
        ))}
    </div>
  );
}

const NAMES: Record<string, string> = {
  usd: t`Cost`,
  tokens: t`Tokens`,
  rows: t`Rows read`,
  bytes: t`Data read`,
  seconds: t`Work time`,
};

/** An amount in the words of its unit. */
export function amountText(name: string, amount: string, formats: Formats): string {
  const value = Number(amount);
  if (name === 'usd') {
    return new Intl.NumberFormat(formats.locale, {
      style: 'currency',
      currency: 'USD',
      maximumFractionDigits: 4,
    }).format(value);
  }
  if (name === 'bytes') return formats.bytes(value);
  return name === 'seconds' ? durationText(value * 1000) : formats.number(value);
}

function Meter({ name, usage }: { name: string; usage: Usage }) {
  const formats = useFormats();
  const { limit, spent, left } = usage;
  const text = (amount: string) => amountText(name, amount, formats);
  const label = NAMES[name] ?? name;
  const percent = limit === null ? 0 : Math.min(100, (Number(spent) / Number(limit)) * 100);
  return (
    <div className={classes.meter}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" className="tabular">
        {text(spent)}
        {left !== null && (
          <Text span size="xs" c="dimmed">
            {' '}
            {t`· ${text(left)} left`}
          </Text>
        )}
      </Text>
      {limit !== null && (
        <Progress
          value={percent}
          size="xs"
          color={percent > 90 ? 'red' : 'steward'}
          aria-label={t`${label}: ${text(spent)} of ${text(limit)}`}
        />
      )}
    </div>
  );
}
