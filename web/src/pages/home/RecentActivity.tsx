/** The last few events of the project. */
import { t } from '@lingui/core/macro';
import { Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { eventsQuery } from '@/api/events';
import { itemsOf } from '@/api/lists';
import { projectPath } from '@/app/project';
import { describeEvent, isStory } from '@/components/describe-event';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { Section } from '@/components/Section';
import classes from './home.module.css';

const SHOWN = 6;

export default function RecentActivity({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(eventsQuery(projectId));
  const events = itemsOf(query.data).filter(isStory).slice(0, SHOWN);
  if (query.isSuccess && events.length === 0) return null;
  return (
    <Section
      title={t`Recent activity`}
      actions={
        <Anchor component={Link} to={projectPath(projectId, 'activity')} size="xs">
          {t`See all`}
        </Anchor>
      }
    >
      {query.isError && events.length === 0 ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Stack gap="sm" aria-busy>
          <Skeleton height={14} />
          <Skeleton height={14} />
          <Skeleton height={14} />
        </Stack>
      ) : (
        <ul className={classes.list}>
          {events.map((event) => (
            <li key={event.id} className={classes.event}>
              <span>{describeEvent(event)}</span>
              <Text span size="xs" c="dimmed" style={{ flexShrink: 0 }}>
                <RelativeTime value={event.time} />
              </Text>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
