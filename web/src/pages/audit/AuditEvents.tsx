/** Search over the event log; what is shown can be saved as NDJSON, and admins export all of it. */
import { t } from '@lingui/core/macro';
import { Button, Group, Menu, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, Download, FileSearch } from 'lucide-react';
import { useState } from 'react';
import { eventsQuery, exportAddress } from '@/api/events';
import { itemsOf } from '@/api/lists';
import type { EventRecord } from '@/api/types';
import { useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { eventKind } from '@/components/describe-event';
import { EmptyState } from '@/components/EmptyState';
import { EventLine } from '@/components/EventLine';
import { useFormats } from '@/components/format';
import { SearchField } from '@/components/SearchField';
import { matches, ndjson, nounsOf, saveText } from './search';

export function AuditEvents() {
  const project = useProject();
  const formats = useFormats();
  const query = useInfiniteQuery(eventsQuery(project.id));
  const mayExport = useMay('admin');
  const [text, setText] = useState('');
  const [noun, setNoun] = useState<string | null>(null);
  const fetched = itemsOf(query.data);
  const shown = fetched.filter((event) => matches(event, text, noun));
  const columns: Column<EventRecord>[] = [
    {
      id: 'when',
      header: t`When`,
      width: '12rem',
      cell: ({ time }) => <span className="tabular">{formats.dateTime(time)}</span>,
    },
    {
      id: 'who',
      header: t`Who`,
      width: '9rem',
      hideBelow: 'sm',
      cell: ({ who }) => who ?? 'Steward',
    },
    {
      id: 'what',
      header: t`What`,
      cell: (event) => <EventLine event={event} />,
    },
    {
      id: 'kind',
      header: t`Type`,
      width: '13rem',
      hideBelow: 'md',
      cell: ({ type }) => <code>{eventKind(type)}</code>,
    },
  ];
  return (
    <Stack>
      <Group gap="sm" align="center">
        <SearchField
          label={t`Search events`}
          placeholder={t`Search people, words, types`}
          onSearch={setText}
        />
        <Select
          aria-label={t`About`}
          placeholder={t`About anything`}
          data={nounsOf(fetched)}
          value={noun}
          clearable
          clearButtonProps={{ 'aria-label': t`About anything` }}
          w="12rem"
          onChange={setNoun}
        />
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          disabled={shown.length === 0}
          onClick={() => saveText('events.ndjson', ndjson(shown), 'application/x-ndjson')}
        >
          {t`Export as NDJSON`}
        </Button>
        {mayExport && <ExportAll projectId={project.id} />}
        <Text size="xs" c="dimmed" role="status">
          {query.hasNextPage
            ? t`${formats.number(shown.length)} of ${formats.number(fetched.length)} fetched events; “Show more” fetches older ones`
            : t`${formats.number(shown.length)} of ${formats.number(fetched.length)} fetched events`}
        </Text>
      </Group>
      <DataTable
        label={t`Events`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        filter={(event) => matches(event, text, noun)}
        empty={
          <EmptyState icon={FileSearch} title={t`No event fits`}>
            {t`Try another word.`}
          </EmptyState>
        }
      />
    </Stack>
  );
}

/** The whole log, with a signed seal at its end; the browser writes it to a file as it comes. */
function ExportAll({ projectId }: { projectId: string }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
        >
          {t`Export all events`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={exportAddress(projectId, 'jsonl')} download>
          {t`JSON lines (CloudEvents)`}
        </Menu.Item>
        <Menu.Item component="a" href={exportAddress(projectId, 'cef')} download>
          {t`CEF (for a SIEM)`}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
