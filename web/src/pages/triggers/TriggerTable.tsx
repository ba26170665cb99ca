/** The triggers of the project: how each fares, when it last had an event, what waits. */
import { t } from '@lingui/core/macro';
import { Anchor, Switch, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import { useSwitchWatchedTrigger, type WatchedTrigger, watchedTriggersQuery } from '@/api/triggers';
import { useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { showFailure } from '@/components/undo';
import { failedOf, healthOf, waitingOf } from './states';

export function TriggerTable({ onOpen }: { onOpen: (id: string) => void }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const formats = useFormats();
  const query = useInfiniteQuery(watchedTriggersQuery(project.id));
  const toggle = useSwitchWatchedTrigger(project.id);
  const columns: Column<WatchedTrigger>[] = [
    {
      id: 'trigger',
      header: t`Trigger`,
      cell: (trigger) => (
        <>
          <Anchor component="button" size="sm" fw={500} onClick={() => onOpen(trigger.id)}>
            {trigger.playbook_name}: {trigger.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {t`${trigger.type}, revision ${trigger.revision}`}
          </Text>
        </>
      ),
    },
    {
      id: 'state',
      header: t`State`,
      width: '8rem',
      cell: (trigger) => <Chip {...healthOf(trigger)} title={trigger.failing_why ?? undefined} />,
    },
    {
      id: 'last',
      header: t`Last event`,
      width: '9rem',
      hideBelow: 'sm',
      cell: ({ last_at }) => (last_at === null ? t`None yet` : <RelativeTime value={last_at} />),
    },
    {
      id: 'waiting',
      header: t`Waiting`,
      width: '6rem',
      align: 'end',
      cell: (trigger) => formats.number(waitingOf(trigger)),
    },
    {
      id: 'failed',
      header: t`Failed`,
      width: '6rem',
      align: 'end',
      hideBelow: 'sm',
      cell: (trigger) => formats.number(failedOf(trigger)),
    },
    {
      id: 'enabled',
      header: t`On`,
      width: '5rem',
      cell: (trigger) => (
        <Switch
          aria-label={t`${trigger.playbook_name}: ${trigger.name} is on`}
          checked={trigger.enabled}
          disabled={!mayChange}
          onChange={({ currentTarget }) =>
            toggle.mutate(
              { id: trigger.id, enabled: currentTarget.checked },
              { onError: showFailure },
            )
          }
        />
      ),
    },
  ];
  return (
    <DataTable
      label={t`Triggers`}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      isFaded={({ enabled }) => !enabled}
      empty={
        <EmptyState icon={Zap} picture="flow" title={t`Nothing starts by itself yet`}>
          {t`Add a trigger to a playbook or a flow, such as a schedule or a webhook, and deploy it.`}
        </EmptyState>
      }
    />
  );
}
