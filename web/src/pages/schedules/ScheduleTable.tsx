/** Schedules with their next moment; switched off and deleted in place, both with a way back. */
import { Button, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { CalendarClock } from 'lucide-react';
import type { ReactNode } from 'react';
import { projectKey } from '@/api/keys';
import { dropFromList } from '@/api/lists';
import type { NewSchedule, Schedule } from '@/api/run-types';
import {
  schedulesQuery,
  useCreateSchedule,
  useDeleteSchedule,
  useSwitchSchedule,
} from '@/api/tools';
import { useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { offerUndo, showFailure } from '@/components/undo';

/** What makes the same schedule once more. */
export function madeAgain(schedule: Schedule): NewSchedule {
  const { name, cron, time_zone, missed, flow, inputs, branch, budget } = schedule;
  return {
    name,
    cron,
    time_zone,
    missed,
    flow: flow as Record<string, unknown>,
    inputs: inputs as Record<string, unknown>,
    branch,
    budget,
  };
}

function useScheduleActions(projectId: string) {
  const client = useQueryClient();
  const create = useCreateSchedule(projectId);
  const remove = useDeleteSchedule(projectId);
  const change = useSwitchSchedule(projectId);
  return {
    remove: (schedule: Schedule) => {
      dropFromList<Schedule>(
        client,
        projectKey(projectId, 'schedule'),
        ({ id }) => id === schedule.id,
      );
      remove.mutate(schedule.id, {
        onSuccess: () =>
          offerUndo({
            message: `${schedule.name} deleted`,
            undo: () => create.mutateAsync(madeAgain(schedule)),
            undone: `${schedule.name} is back`,
          }),
        onError: showFailure,
      });
    },
    enable: (schedule: Schedule, enabled: boolean) =>
      change.mutate({ schedule, enabled }, { onError: showFailure }),
  };
}

export function ScheduleTable({ create }: { create: ReactNode }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const formats = useFormats();
  const query = useInfiniteQuery(schedulesQuery(project.id));
  const actions = useScheduleActions(project.id);
  const columns: Column<Schedule>[] = [
    {
      id: 'name',
      header: 'Schedule',
      cell: ({ name, cron, time_zone }) => (
        <>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            <code>{cron}</code> {time_zone}
          </Text>
        </>
      ),
    },
    {
      id: 'next',
      header: 'Next',
      width: '15rem',
      cell: ({ next_at, enabled }) =>
        !enabled || next_at === null ? (
          'Off'
        ) : (
          <span>
            {formats.dateTime(next_at)}{' '}
            <Text span size="xs" c="dimmed">
              <RelativeTime value={next_at} />
            </Text>
          </span>
        ),
    },
    {
      id: 'last',
      header: 'Last',
      width: '9rem',
      hideBelow: 'md',
      cell: ({ last_at }) => (last_at === null ? 'Never' : <RelativeTime value={last_at} />),
    },
    {
      id: 'enabled',
      header: 'On',
      width: '5rem',
      cell: (schedule) => (
        <Switch
          aria-label={`${schedule.name} is on`}
          checked={schedule.enabled}
          disabled={!mayChange}
          onChange={({ currentTarget }) => actions.enable(schedule, currentTarget.checked)}
        />
      ),
    },
    {
      id: 'delete',
      header: 'Delete',
      quietHeader: true,
      align: 'end',
      width: '6rem',
      cell: (schedule) =>
        mayChange && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label={`Delete ${schedule.name}`}
            onClick={() => actions.remove(schedule)}
          >
            Delete
          </Button>
        ),
    },
  ];
  return (
    <DataTable
      label="Schedules"
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      isFaded={({ enabled }) => !enabled}
      empty={
        <EmptyState icon={CalendarClock} title="No schedules yet" action={create}>
          A schedule starts a flow at the moments of a cron expression, such as every weekday at
          eight.
        </EmptyState>
      }
    />
  );
}
