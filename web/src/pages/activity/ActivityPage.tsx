/** The event log of the project, newest first, by day. */
import { t } from '@lingui/core/macro';
import { Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { eventsQuery } from '@/api/events';
import { itemsOf } from '@/api/lists';
import { costDaysQuery } from '@/api/observe';
import { useProject } from '@/app/project';
import { dollars } from '@/components/amounts';
import { MoreButton } from '@/components/DataTable';
import { isStory } from '@/components/describe-event';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { EventLine } from '@/components/EventLine';
import { useFormats } from '@/components/format';
import { Page } from '@/components/Page';
import { ownTimeZone } from '@/components/schedule/timing';
import { Section } from '@/components/Section';
import classes from './activity.module.css';

const DAYS_WITH_COST = 90;

export default function ActivityPage() {
  return (
    <Page
      title={t`Activity`}
      description={t`Who did what in this project, newest first, and what each day cost.`}
    >
      <EventLog />
    </Page>
  );
}

function EventLog() {
  const project = useProject();
  const query = useInfiniteQuery(eventsQuery(project.id));
  const formats = useFormats();
  const costs = useQuery(costDaysQuery(project.id, ownTimeZone(), DAYS_WITH_COST)).data;
  const events = itemsOf(query.data).filter(isStory);
  if (query.isPending) return <Loading />;
  if (query.isError && events.length === 0) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (events.length === 0 && !query.hasNextPage) {
    return (
      <EmptyState icon={History} picture="list" title={t`Nothing has happened yet`}>
        {t`Changes to people, tokens, secrets and files will be listed here.`}
      </EmptyState>
    );
  }
  const days = [...Map.groupBy(events, ({ time }) => formats.date(time))];
  return (
    <>
      {days.map(([day, ofDay]) => (
        <Section key={day} title={day} actions={<DayCost costs={costs} at={ofDay[0]?.time} />}>
          <ul className={classes.list}>
            {ofDay.map((event) => (
              <li key={event.id} className={classes.item}>
                <EventLine event={event} />
                <Text span size="xs" c="dimmed" className="tabular">
                  <time dateTime={event.time}>{formats.time(event.time)}</time>
                </Text>
              </li>
            ))}
          </ul>
        </Section>
      ))}
      <MoreButton query={query} />
    </>
  );
}

interface DayCostProps {
  costs: { first: string; usd: Map<string, number> } | undefined;
  at: string | undefined;
}

/** What the project spent on that day of the reader. */
function DayCost({ costs, at }: DayCostProps) {
  const formats = useFormats();
  if (costs === undefined || at === undefined) return null;
  const day = localDay(new Date(at));
  if (day < costs.first) return null;
  return (
    <Text size="xs" c="dimmed" className="tabular">
      {t`Cost: ${dollars(formats, costs.usd.get(day) ?? 0)}`}
    </Text>
  );
}

/** The day of a moment where the reader is, as in 2026-11-18. */
function localDay(moment: Date): string {
  const parts = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
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
