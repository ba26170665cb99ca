/** The deployed playbooks that start at set times. */
import { t } from '@lingui/core/macro';
import { Anchor, Switch, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSwitchWatchedTrigger, type WatchedTrigger, watchedTriggersQuery } from '@/api/triggers';
import { itemsOf } from '@/api/lists';
import { projectPath, useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { FormattedDate, RelativeTime } from '@/components/Moment';
import { timingWords } from '@/components/schedule/timing';
import { Section } from '@/components/Section';
import { showFailure } from '@/components/undo';

export function PlaybookSchedules() {
  const project = useProject();
  const mayChange = useMay('editor');
  const query = useInfiniteQuery({
    ...watchedTriggersQuery(project.id),
    select: (data) => ({
      ...data,
      pages: data.pages.map((page) => ({
        ...page,
        items: page.items.filter(({ type }) => type === 'cron'),
      })),
    }),
  });
  const toggle = useSwitchWatchedTrigger(project.id);
  if (itemsOf(query.data).length === 0) return null;
  const columns: Column<WatchedTrigger>[] = [
    {
      id: 'playbook',
      header: t`Playbook`,
      cell: ({ playbook_id, playbook_name, details }) => (
        <>
          <Anchor
            component={Link}
            to={`${projectPath(project.id, 'playbooks', playbook_id)}?tab=schedule`}
            size="sm"
            fw={500}
          >
            {playbook_name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {timingWords(String(details.cron))} (
            {(details as { time_zone?: string }).time_zone ?? t`UTC`})
          </Text>
        </>
      ),
    },
    {
      id: 'next',
      header: t`Next`,
      width: '15rem',
      cell: ({ next_moments: [next], enabled }) =>
        enabled && next !== undefined ? <FormattedDate value={next} withTime /> : t`Off`,
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
      cell: ({ id, playbook_name, enabled }) => (
        <Switch
          aria-label={t`The schedule of ${playbook_name} is on`}
          checked={enabled}
          disabled={!mayChange}
          onChange={({ currentTarget }) =>
            toggle.mutate({ id, enabled: currentTarget.checked }, { onError: showFailure })
          }
        />
      ),
    },
  ];
  return (
    <Section title={t`Playbooks`}>
      <DataTable
        label={t`Playbooks with a schedule`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        isFaded={({ enabled }) => !enabled}
        empty={null}
      />
    </Section>
  );
}
