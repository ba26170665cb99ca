/** The journal: every entry with the hash that covers it and all before it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { BadgeCheck, BookOpen } from 'lucide-react';
import type { JournalEntry, RunDetail } from '@/api/run-types';
import { journalQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { Hash } from '@/components/Hash';
import { Section } from '@/components/Section';
import { Unfolding } from '@/components/Unfolding';
import { useDialog, useSearchParam } from '@/components/use-search-param';

export default function JournalTab({ run }: { run: RunDetail }) {
  const project = useProject();
  const formats = useFormats();
  const [about, setAbout] = useSearchParam('about');
  const query = useInfiniteQuery(journalQuery(project.id, run.id, about));
  const verify = useDialog('verify');
  const columns: Column<JournalEntry>[] = [
    { id: 'seq', header: t`Entry`, width: '4rem', align: 'end', cell: ({ seq }) => seq },
    {
      id: 'what',
      header: t`What`,
      cell: ({ type, key, seq, data }) => (
        <Unfolding line={`${type} · ${key}`} label={t`entry ${seq}`} document={data} />
      ),
    },
    {
      id: 'when',
      header: t`When`,
      width: '11rem',
      hideBelow: 'md',
      cell: ({ at }) => <span className="tabular">{formats.dateTime(at)}</span>,
    },
    {
      id: 'hash',
      header: t`Hash`,
      width: '11rem',
      cell: ({ hash, seq }) => <Hash label={t`Hash of entry ${seq}`} value={hash} />,
    },
  ];
  return (
    <Section
      title={t`Journal`}
      description={t`Entries are only ever added. Each hash covers the entry and the one before, so an altered entry is found.`}
      actions={
        <Button
          variant="default"
          flex="none"
          leftSection={<BadgeCheck size={14} aria-hidden />}
          onClick={verify.open}
        >
          {t`Verify`}
        </Button>
      }
    >
      {about !== null && (
        <Group gap="xs">
          <Text size="sm">
            <Trans>
              Only entries about <b>{about}</b>.
            </Trans>
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => setAbout(null)}>
            {t`Show all`}
          </Button>
        </Group>
      )}
      <DataTable
        label={t`Journal`}
        columns={columns}
        query={query}
        rowKey={({ seq }) => String(seq)}
        empty={<EmptyState icon={BookOpen} title={t`No entries yet`} />}
      />
    </Section>
  );
}
