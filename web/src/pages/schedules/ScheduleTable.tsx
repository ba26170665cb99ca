/** Schedules with their next moment; switched off and deleted in place, both with a way back. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { CalendarClock } from 'lucide-react';
import type { ReactNode } from 'react';
import { projectKey } from '@/api/keys';
import { dropFromList } from '@/api/lists';
import type { NewSchedule, Schedule } from '@/api/run-types';
import {
  schedulesQuery,
  useCreateSchedule,
  useDecideMissed,
  useDeleteSchedule,
  useChangeSchedule,
} from '@/api/tools';
import { useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { timingWords } from '@/components/schedule/timing';
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
  const change = useChangeSchedule(projectId);
  const decide = useDecideMissed(projectId);
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
            message: t`${schedule.name} deleted`,
            undo: () => create.mutateAsync(madeAgain(schedule)),
            undone: t`${schedule.name} is back`,
          }),
        onError: showFailure,
      });
    },
    decide: (schedule: Schedule, run: boolean) =>
      decide.mutate({ schedule, run }, { onError: showFailure }),
    enable: (schedule: Schedule, enabled: boolean) =>
      change.mutate({ schedule, changes: { enabled } }, { onError: showFailure }),
  };
}

const MISSED_WORDS: Record<Schedule['missed'], string> = {
  skip: t`Skips missed moments`,
  once: t`Missed moments: one run`,
  all: t`Missed moments: a run for each`,
  ask: t`Asks about missed moments`,
};

interface MissedProps {
  schedule: Schedule;
  mayChange: boolean;
  decide: (schedule: Schedule, run: boolean) => void;
}

function MissedMoments({ schedule, mayChange, decide }: MissedProps) {
  const formats = useFormats();
  const last = schedule.asked.at(-1);
  return (
    <Group gap="xs" mt={4}>
      <Text size="xs">
        <Trans>
          Missed {formats.number(schedule.asked.length)}
          {last !== undefined && t`, the last at ${formats.dateTime(last)}`}.
        </Trans>
      </Text>
      {mayChange && (
        <>
          <Button size="compact-xs" variant="default" onClick={() => decide(schedule, true)}>
            {t`Run once now`}
          </Button>
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={() => decide(schedule, false)}
          >
            {t`Drop`}
          </Button>
        </>
      )}
    </Group>
  );
}

interface TableProps {
  create: ReactNode;
  onChange: (schedule: Schedule) => void;
}

export function ScheduleTable({ create, onChange }: TableProps) {
  const project = useProject();
  const mayChange = useMay('editor');
  const formats = useFormats();
  const query = useInfiniteQuery(schedulesQuery(project.id));
  const actions = useScheduleActions(project.id);
  const columns: Column<Schedule>[] = [
    {
      id: 'name',
      header: t`Schedule`,
      cell: (schedule) => (
        <>
          <Text size="sm" fw={500}>
            {schedule.name}
          </Text>
          <Text size="xs" c="dimmed">
            {timingWords(schedule.cron)} ({schedule.time_zone}). {MISSED_WORDS[schedule.missed]}.
          </Text>
          {schedule.asked.length > 0 && (
            <MissedMoments schedule={schedule} mayChange={mayChange} decide={actions.decide} />
          )}
        </>
      ),
    },
    {
      id: 'next',
      header: t`Next`,
      width: '15rem',
      cell: ({ next_moments, enabled }) =>
        !enabled || next_moments[0] === undefined ? (
          t`Off`
        ) : (
          <>
            {next_moments.map((moment, index) => (
              <Text
                key={moment}
                size={index === 0 ? 'sm' : 'xs'}
                {...(index === 0 ? {} : { c: 'dimmed' })}
              >
                {formats.dateTime(moment)}
              </Text>
            ))}
          </>
        ),
    },
    {
      id: 'last',
      header: t`Last`,
      width: '9rem',
      hideBelow: 'md',
      cell: ({ last_at }) => (last_at === null ? t`Never` : <RelativeTime value={last_at} />),
    },
    {
      id: 'enabled',
      header: t`On`,
      width: '5rem',
      cell: (schedule) => (
        <Switch
          aria-label={t`${schedule.name} is on`}
          checked={schedule.enabled}
          disabled={!mayChange}
          onChange={({ currentTarget }) => actions.enable(schedule, currentTarget.checked)}
        />
      ),
    },
    {
      id: 'actions',
      header: t`Actions`,
      quietHeader: true,
      align: 'end',
      width: '11rem',
      cell: (schedule) =>
        mayChange && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={t`Change ${schedule.name}`}
              onClick={() => onChange(schedule)}
            >
              {t`Change`}
            </Button>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-label={t`Delete ${schedule.name}`}
              onClick={() => actions.remove(schedule)}
            >
              {t`Delete`}
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <DataTable
      label={t`Schedules`}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      isFaded={({ enabled }) => !enabled}
      empty={
        <EmptyState
          icon={CalendarClock}
          picture="calendar"
          title={t`No schedules yet`}
          action={create}
        >
          {t`A schedule starts a flow at the times you choose, such as Monday to Friday at 8:00.`}
        </EmptyState>
      }
    />
  );
}
