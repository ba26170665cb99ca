/** The events of a trigger with state and reason; replayed, dropped and released one by one or all at once. */
import { plural, t } from '@lingui/core/macro';
import { Anchor, Button, Group, Select, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useState } from 'react';
import {
  type Decision,
  type EventState,
  type TriggerEvent,
  triggerEventsQuery,
  useDecideAboutEvents,
  type WatchedTrigger,
} from '@/api/triggers';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { Unfolding } from '@/components/Unfolding';
import { EVENT_LOOKS } from './states';

type Action = Decision['action'];
const DONE_WORDS: Record<Action, string> = {
  replay: t`stored again and will run`,
  drop: t`dropped`,
  release: t`released and will run`,
};
/** What can be done about an event, by its state. */
const ACTIONS: Record<EventState, Action[]> = {
  stored: ['drop'],
  waiting: ['drop'],
  held: ['release', 'drop'],
  running: [],
  done: ['replay'],
  failed: ['replay'],
  filtered: ['replay'],
  dead: ['replay'],
  dropped: ['replay'],
};
const WORDS: Record<Action, string> = { replay: t`Replay`, drop: t`Drop`, release: t`Run` };

export function EventList({ trigger }: { trigger: WatchedTrigger }) {
  const project = useProject();
  const formats = useFormats();
  const mayDecide = useMay('operator');
  const [state, setState] = useState<EventState | null>(null);
  const query = useInfiniteQuery(triggerEventsQuery(project.id, trigger.id, state));
  const decide = useDecideAboutEvents(project.id, trigger.id);
  const act = (decision: Decision) =>
    decide.mutate(decision, {
      onSuccess: ({ count }) =>
        showDone(
          plural(count, {
            one: `${formats.number(count)} event ${DONE_WORDS[decision.action]}`,
            other: `${formats.number(count)} events ${DONE_WORDS[decision.action]}`,
          }),
        ),
      onError: showFailure,
    });
  const columns: Column<TriggerEvent>[] = [
    {
      id: 'received',
      header: t`Received`,
      width: '8rem',
      cell: ({ received_at }) => <RelativeTime value={received_at} />,
    },
    {
      id: 'state',
      header: t`State`,
      width: '9rem',
      cell: (event) => <Chip {...EVENT_LOOKS[event.state]} />,
    },
    {
      id: 'event',
      header: t`Event`,
      cell: (event) => (
        <>
          <Unfolding line={summary(event)} label={t`event`} document={event.event} />
          {event.reason !== null && (
            <Text size="xs" c="dimmed">
              {event.reason}
            </Text>
          )}
          {event.run_id !== null && (
            <Anchor component={Link} to={projectPath(project.id, `runs/${event.run_id}`)} size="xs">
              {t`Open the run`}
            </Anchor>
          )}
        </>
      ),
    },
    {
      id: 'actions',
      header: t`Actions`,
      quietHeader: true,
      align: 'end',
      width: '8rem',
      ownLine: true,
      cell: (event) =>
        mayDecide && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            {ACTIONS[event.state].map((action) => (
              <Button
                key={action}
                variant="subtle"
                color="gray"
                size="compact-sm"
                aria-label={t`${WORDS[action]} event ${event.id}`}
                onClick={() => act({ action, ids: [event.id], states: [] })}
              >
                {WORDS[action]}
              </Button>
            ))}
          </Group>
        ),
    },
  ];
  const all = state === null ? [] : ACTIONS[state];
  return (
    <Section title={t`Events`} description={retention(trigger)}>
      <Group gap="sm" mb="sm">
        <Select
          aria-label={t`State`}
          placeholder={t`Any state`}
          data={Object.entries(EVENT_LOOKS).map(([value, { word }]) => ({
            value,
            label: `${word} (${formats.number(trigger.counts[value] ?? 0)})`,
          }))}
          value={state}
          clearable
          clearButtonProps={{ 'aria-label': t`Any state` }}
          w="13rem"
          onChange={(value) => setState(value as EventState | null)}
        />
        {mayDecide &&
          state !== null &&
          (trigger.counts[state] ?? 0) > 0 &&
          all.map((action) => (
            <Button
              key={action}
              variant="default"
              loading={decide.isPending}
              onClick={() => act({ action, ids: [], states: [state] })}
            >
              {t`${WORDS[action]} all ${formats.number(trigger.counts[state] ?? 0)}`}
            </Button>
          ))}
      </Group>
      <DataTable
        label={t`Events`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            icon={Inbox}
            title={state === null ? t`No events yet` : t`No event in this state`}
          >
            {t`Events appear here as soon as they are stored.`}
          </EmptyState>
        }
      />
    </Section>
  );
}

function summary({ event, replay_of }: TriggerEvent): string {
  const text = JSON.stringify(event.data);
  const short = text.length > 80 ? `${text.slice(0, 79)}…` : text;
  return replay_of === null ? short : t`Replay: ${short}`;
}

function retention({ duplicates, delivery, expected_seconds }: WatchedTrigger): string {
  const days = (delivery as { keep_days?: number }).keep_days ?? 30;
  const silence =
    expected_seconds === null
      ? ''
      : t` You are told after ${spoken(expected_seconds)} without an event.`;
  const dropped = duplicates === 0 ? '' : t` ${duplicates} duplicates were left out.`;
  return t`Kept for ${days} days after they are over.${silence}${dropped}`;
}

function spoken(seconds: number): string {
  if (seconds >= 2 * 86_400) return t`${Math.round(seconds / 86_400)} days`;
  if (seconds >= 2 * 3_600) return t`${Math.round(seconds / 3_600)} hours`;
  return seconds >= 2 * 60 ? t`${Math.round(seconds / 60)} minutes` : t`${seconds} seconds`;
}
