/** The run as it goes on, entry by entry; picks up after the last one it saw. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { JournalEntry } from '@/api/run-types';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import classes from './run.module.css';
import type { RunLog } from './use-run-stream';

const STATES: Record<RunLog['state'], string> = {
  connecting: t`Connecting`,
  open: t`Live: new entries appear by themselves`,
  waiting: t`The connection was lost; trying again`,
  closed: t`Not followed any more`,
  ended: t`The run has ended; this is all of it`,
};

export default function LogTab({ log: { entries, state } }: { log: RunLog }) {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    // Who has scrolled up is reading.
    const { current } = list;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [entries]);
  const onScroll = () => {
    const { current } = list;
    if (!current) return;
    isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 24;
  };
  return (
    <>
      <Text size="xs" c="dimmed" mb="xs" role="status">
        {STATES[state]}
      </Text>
      {entries.length === 0 ? (
        <EmptyState icon={ScrollText} title={t`No entries yet`} />
      ) : (
        <ol
          ref={list}
          className={classes.log}
          aria-label={t`Log`}
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
          tabIndex={0}
          onScroll={onScroll}
        >
          {entries.map((entry) => (
            <LogLine key={entry.seq} entry={entry} />
          ))}
        </ol>
      )}
    </>
  );
}

/** What happened, in few words. */
export function entryText({ data }: Pick<JournalEntry, 'data'>): string {
  const { error, reason, request, action } = data as Record<string, unknown>;
  if (isRecord(error)) return String(error.message);
  if (typeof reason === 'string' && reason !== '') return reason;
  if (typeof action === 'string') return action;
  if (isRecord(request)) {
    const { tool, title, kind } = request;
    return [tool, title, kind].find((text): text is string => typeof text === 'string') ?? '';
  }
  return '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function LogLine({ entry }: { entry: JournalEntry }) {
  const formats = useFormats();
  const said = entryText(entry);
  return (
    <li>
      <span className={classes.number}>{entry.seq}</span>
      <time dateTime={entry.at} title={formats.dateTime(entry.at)}>
        {new Date(entry.at).toISOString().slice(11, 22)}
      </time>
      <span>{entry.kind}</span>
      <span>
        {entry.key} <span className={classes.said}>{said}</span>
      </span>
    </li>
  );
}
