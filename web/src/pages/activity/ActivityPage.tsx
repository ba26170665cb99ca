/** The event log of the project, newest first, by day. */
import { Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight, History } from 'lucide-react';
import { useState } from 'react';
import { eventsQuery } from '@/api/events';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import type { EventRecord } from '@/api/types';
import { useProject } from '@/app/project';
import { CodeBlock } from '@/components/CodeBlock';
import { MoreButton } from '@/components/DataTable';
import { describeEvent, eventKind, isStory } from '@/components/describe-event';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import classes from './activity.module.css';

export default function ActivityPage() {
  return (
    <Page title="Activity" description="Everything that happened in this project, as it happens.">
      <EventLog />
    </Page>
  );
}

function EventLog() {
  const project = useProject();
  const query = useInfiniteQuery(eventsQuery(project.id));
  const formats = useFormats();
  const nameOf = usePersonName(project.id);
  const events = itemsOf(query.data).filter(isStory);
  if (query.isPending) return <Loading />;
  if (query.isError && events.length === 0) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (events.length === 0 && !query.hasNextPage) {
    return (
      <EmptyState icon={History} title="Nothing has happened yet">
        Changes to people, tokens, secrets and files will be listed here.
      </EmptyState>
    );
  }
  const days = [...Map.groupBy(events, ({ time }) => formats.date(time))];
  return (
    <>
      {days.map(([day, ofDay]) => (
        <Section key={day} title={day}>
          <ul className={classes.list}>
            {ofDay.map((event) => (
              <EventItem key={event.id} event={event} sentence={describeEvent(event, nameOf)} />
            ))}
          </ul>
        </Section>
      ))}
      <MoreButton query={query} />
    </>
  );
}

function EventItem({ event, sentence }: { event: EventRecord; sentence: string }) {
  const [opened, setOpened] = useState(false);
  const formats = useFormats();
  const details = `details-${event.id}`;
  return (
    <li className={classes.item}>
      <UnstyledButton
        className={classes.line}
        aria-expanded={opened}
        aria-controls={opened ? details : undefined}
        onClick={() => setOpened(!opened)}
      >
        <ChevronRight size={14} aria-hidden className={classes.chevron} />
        <span className={classes.what}>{sentence}</span>
        <Text span size="xs" c="dimmed" className={classes.kind}>
          {eventKind(event.type)}
        </Text>
        <Text span size="xs" c="dimmed" className="tabular">
          <time dateTime={event.time}>{formats.time(event.time)}</time>
        </Text>
      </UnstyledButton>
      {opened && (
        <div id={details} className={classes.details}>
          <CodeBlock label="event" code={JSON.stringify(event, null, 2)} />
        </div>
      )}
    </li>
  );
}

function Loading() {
  return (
    <Stack gap="md" aria-busy>
      {Array.from({ length: 6 }, (_, row) => (
        <Skeleton key={row} height={18} />
      ))}
    </Stack>
  );
}
