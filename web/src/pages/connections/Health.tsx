/** Whether a connection works, now and in its latest checks. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Text, Tooltip } from '@mantine/core';
import { CircleCheck, CircleHelp, CircleX } from 'lucide-react';
import type { Connection } from '@/api/connections';
import { Chip } from '@/components/Chip';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import classes from './connections.module.css';

const LOOKS = {
  working: { word: t`Works`, icon: CircleCheck, tone: 'good' },
  failing: { word: t`Fails`, icon: CircleX, tone: 'bad' },
  unknown: { word: t`Not tested`, icon: CircleHelp, tone: 'neutral' },
} as const;

export function Health({ connection }: { connection: Connection }) {
  const { checks, state } = connection;
  const [latest] = checks;
  return (
    <>
      <Chip {...LOOKS[state]} title={latest?.words} />
      {latest && (
        <Text size="xs" c="dimmed" component="div">
          <Trans>
            <RelativeTime value={latest.at} />, {latest.milliseconds} ms
          </Trans>
        </Text>
      )}
    </>
  );
}

/** Oldest first, one mark a check. */
export function Timeline({ connection }: { connection: Connection }) {
  const formats = useFormats();
  const checks = connection.checks.toReversed();
  if (checks.length === 0) return null;
  const failed = checks.filter(({ worked }) => !worked).length;
  return (
    <span
      className={classes.timeline}
      role="img"
      aria-label={t`${checks.length - failed} of the last ${checks.length} checks worked`}
    >
      {checks.map(({ id, worked, words, at }) => (
        <Tooltip key={id} label={`${formats.dateTime(at)}: ${words}`} multiline maw="22rem">
          <span className={classes.mark} data-worked={worked} />
        </Tooltip>
      ))}
    </span>
  );
}
