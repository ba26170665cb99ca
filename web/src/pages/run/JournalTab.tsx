/** The journal: every entry with the hash that covers it and all before it. */
import { Button, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { BadgeCheck, BookOpen, ChevronDown } from 'lucide-react';
import { useState } from 'react';
import type { JournalEntry, RunDetail } from '@/api/run-types';
import { journalQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { CodeBlock } from '@/components/CodeBlock';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { Hash } from '@/components/Hash';
import { Section } from '@/components/Section';
import { useDialog } from '@/components/use-search-param';

export default function JournalTab({ run }: { run: RunDetail }) {
  const project = useProject();
  const formats = useFormats();
  const query = useInfiniteQuery(journalQuery(project.id, run.id));
  const verify = useDialog('verify');
  const columns: Column<JournalEntry>[] = [
    { id: 'seq', header: 'Entry', width: '4rem', align: 'end', cell: ({ seq }) => seq },
    { id: 'what', header: 'What', cell: (entry) => <EntryBody entry={entry} /> },
    {
      id: 'when',
      header: 'When',
      width: '11rem',
      hideBelow: 'md',
      cell: ({ at }) => <span className="tabular">{formats.dateTime(at)}</span>,
    },
    {
      id: 'hash',
      header: 'Hash',
      width: '11rem',
      cell: ({ hash, seq }) => <Hash label={`Hash of entry ${seq}`} value={hash} />,
    },
  ];
  return (
    <Section
      title="Journal"
      description="Entries are only ever added. Each hash covers the entry and the one before, so an altered entry is found."
      actions={
        <Button
          variant="default"
          flex="none"
          leftSection={<BadgeCheck size={14} aria-hidden />}
          onClick={verify.open}
        >
          Verify
        </Button>
      }
    >
      <DataTable
        label="Journal"
        columns={columns}
        query={query}
        rowKey={({ seq }) => String(seq)}
        empty={<EmptyState icon={BookOpen} title="No entries yet" />}
      />
    </Section>
  );
}

function EntryBody({ entry }: { entry: JournalEntry }) {
  const [opened, setOpened] = useState(false);
  return (
    <Stack gap={6} align="flex-start">
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={opened}
        rightSection={<ChevronDown size={13} aria-hidden />}
        onClick={() => setOpened(!opened)}
      >
        {entry.kind} · {entry.key}
      </Button>
      {opened && (
        <CodeBlock label={`entry ${entry.seq}`} code={JSON.stringify(entry.data, null, 2)} />
      )}
    </Stack>
  );
}
