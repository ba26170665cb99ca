/** Two versions of the dataset side by side: counts first, then the rows. */
import { t } from '@lingui/core/macro';
import { Button, Group, Select, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitCompareArrows } from 'lucide-react';
import { useState } from 'react';
import type { Dataset, Diff } from '@/api/data-types';
import { commitsQuery, DIFF_PAGE, diffQuery, diffRowsQuery } from '@/api/history';
import { itemsOf } from '@/api/lists';
import { useProject } from '@/app/project';
import countClasses from '@/components/ChangePreview.module.css';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { useSearchParam } from '@/components/use-search-param';
import { DiffTable } from './DiffTable';
import { changedColumns, diffColumns, diffLine } from './diff-lines';
import classes from './diff.module.css';
import { type VersionChoice, versionChoices } from './version-choices';

export default function CompareTab({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const formats = useFormats();
  const commits = useInfiniteQuery(commitsQuery(project.id, dataset.name));
  const [beforeWanted] = useSearchParam('before');
  const [afterWanted] = useSearchParam('after');
  const navigate = useNavigate();
  const choices = versionChoices(itemsOf(commits.data), dataset.name);
  const after = afterWanted ?? dataset.version;
  const before = beforeWanted ?? choices.find(({ version }) => version !== after)?.version;
  const choose = (versions: { before?: string; after?: string }) =>
    void navigate({
      to: '.',
      search: { tab: 'compare', before, after, ...versions },
    });
  if (commits.isPending) return <Skeleton height={60} aria-busy />;
  if (before === undefined) {
    return (
      <EmptyState icon={GitCompareArrows} title={t`There is only one version`}>
        {t`As soon as this dataset is changed, its versions can be compared here.`}
      </EmptyState>
    );
  }
  return (
    <Stack>
      <Group align="flex-end" gap="sm">
        <VersionSelect
          label={t`From`}
          choices={choices}
          value={before}
          formats={formats}
          onChange={(version) => choose({ before: version })}
        />
        <VersionSelect
          label={t`To`}
          choices={choices}
          value={after}
          formats={formats}
          onChange={(version) => choose({ after: version })}
        />
      </Group>
      <DiffView key={`${before} ${after}`} projectId={project.id} before={before} after={after} />
    </Stack>
  );
}

interface SelectProps {
  label: string;
  choices: VersionChoice[];
  value: string;
  formats: Formats;
  onChange: (version: string) => void;
}

function VersionSelect({ label, choices, value, formats, onChange }: SelectProps) {
  const data = choices.map(({ version, message, time }) => ({
    value: version,
    label: `${message} · ${formats.dateTime(time)}`,
  }));
  const isKnown = choices.some(({ version }) => version === value);
  return (
    <Select
      label={label}
      w={{ base: '100%', sm: '24rem' }}
      data={isKnown ? data : [...data, { value, label: t`An older version` }]}
      value={value}
      allowDeselect={false}
      onChange={(next) => {
        if (next !== null) onChange(next);
      }}
    />
  );
}

interface ViewProps {
  projectId: string;
  before: string;
  after: string;
}

function DiffView({ projectId, before, after }: ViewProps) {
  const diff = useQuery(diffQuery(projectId, before, after));
  if (diff.isError) return <ErrorState error={diff.error} retry={() => void diff.refetch()} />;
  if (diff.isPending) return <Skeleton height={60} aria-busy />;
  const { added, removed, changed, columns } = diff.data;
  return (
    <Stack>
      <Counts diff={diff.data} />
      <SchemaChanges diff={diff.data} />
      {added + removed + changed > 0 ? (
        <DiffRowsView projectId={projectId} before={before} after={after} diff={diff.data} />
      ) : (
        <Text size="sm" c="dimmed">
          {columns.length > 0
            ? t`The rows are the same apart from that.`
            : t`These versions are the same.`}
        </Text>
      )}
    </Stack>
  );
}

function Counts({ diff }: { diff: Diff }) {
  const formats = useFormats();
  const counts: [string, number][] = [
    [t`+ rows added`, diff.added],
    [t`− rows removed`, diff.removed],
    [t`± rows changed`, diff.changed],
    [t`rows before`, diff.rows_before],
    [t`rows after`, diff.rows_after],
  ];
  return (
    <dl className={countClasses.counts}>
      {counts.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formats.number(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

function SchemaChanges({ diff: { columns } }: { diff: Diff }) {
  if (columns.length === 0) return null;
  return (
    <ul className={classes.schema} aria-label={t`Changes of columns`}>
      {columns.map(({ name, kind, before, after }) => (
        <li key={`${kind} ${name}`}>
          <b>{name}</b> {kind}
          {kind === 'retyped' && `: ${before ?? ''} → ${after ?? ''}`}
          {kind === 'added' && ` (${after ?? ''})`}
        </li>
      ))}
    </ul>
  );
}

function DiffRowsView({ projectId, before, after, diff }: ViewProps & { diff: Diff }) {
  const formats = useFormats();
  const [offset, setOffset] = useState(0);
  const [onlyChanged, setOnlyChanged] = useState(diff.added + diff.removed === 0);
  const query = useQuery({
    ...diffRowsQuery(projectId, before, after, offset),
    placeholderData: keepPreviousData,
  });
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const { before_columns, after_columns, rows } = query.data;
  const all = diffColumns(before_columns, after_columns);
  const shown = onlyChanged ? changedColumns(diff, all) : all;
  const total = diff.added + diff.removed + diff.changed;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Switch
          label={t`Only columns that changed`}
          checked={onlyChanged}
          onChange={({ currentTarget }) => setOnlyChanged(currentTarget.checked)}
        />
        <Group gap="xs">
          <Text size="xs" c="dimmed" role="status" className="tabular">
            {t`${formats.number(offset + 1)}–${formats.number(offset + rows.length)} of ${formats.number(total)}`}
          </Text>
          <Button
            variant="default"
            size="compact-sm"
            disabled={offset === 0}
            onClick={() => setOffset(Math.max(0, offset - DIFF_PAGE))}
          >
            {t`Previous`}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            disabled={offset + rows.length >= total}
            onClick={() => setOffset(offset + DIFF_PAGE)}
          >
            {t`Next`}
          </Button>
        </Group>
      </Group>
      <DiffTable
        columns={shown}
        lines={rows.map((row) => diffLine(row, before_columns, after_columns, shown))}
      />
    </Stack>
  );
}
