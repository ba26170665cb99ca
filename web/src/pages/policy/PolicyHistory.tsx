/** Revisions of a text, each with what it changed. */
import { t } from '@lingui/core/macro';
import { Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, History } from 'lucide-react';
import { useState } from 'react';
import { usePersonName } from '@/api/members';
import { policyHistoryQuery, type PolicyPlace } from '@/api/policy';
import type { PolicyRevision } from '@/api/run-types';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { lineDiff } from './line-diff';
import { PRESET_WORDS } from './preset-words';
import classes from './policy.module.css';

export function PolicyHistory({ place }: { place: PolicyPlace }) {
  const project = useProject();
  const query = useQuery(policyHistoryQuery(project.id, place));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={80} aria-busy />;
  const revisions = query.data.toSorted((a, b) => b.revision - a.revision);
  if (revisions.length === 0) {
    return (
      <EmptyState icon={History} title={t`No revisions yet`}>
        {t`Each saved text stays here, with who saved it and why.`}
      </EmptyState>
    );
  }
  return (
    <ol className={classes.history} reversed>
      {revisions.map((revision, index) => (
        <Revision
          key={revision.revision}
          revision={revision}
          before={revisions[index + 1]?.text ?? ''}
          isNewest={index === 0}
        />
      ))}
    </ol>
  );
}

interface Props {
  revision: PolicyRevision;
  before: string;
  isNewest: boolean;
}

function Revision({ revision, before, isNewest }: Props) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const formats = useFormats();
  const [opened, setOpened] = useState(isNewest);
  const preset = revision.preset === null ? null : PRESET_WORDS[revision.preset];
  const title = revision.message || (preset ? t`Preset ${preset.title}` : t`Changed`);
  return (
    <li className={classes.revision}>
      <UnstyledButton
        className={classes.line}
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
      >
        <ChevronRight size={14} aria-hidden className={classes.chevron} />
        <span className={classes.grow}>
          <Text span size="sm" fw={600}>
            {revision.revision}. {title}
          </Text>
        </span>
        <Text span size="xs" c="dimmed">
          {nameOf(revision.author) ?? 'Steward'}
          {revision.created_at !== null && `, ${formats.dateTime(revision.created_at)}`}
        </Text>
      </UnstyledButton>
      {opened && <Diff before={before} after={revision.text} />}
    </li>
  );
}

const MARKS = { same: ' ', removed: '−', added: '+' };

function Diff({ before, after }: { before: string; after: string }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <pre className={classes.diff} tabIndex={0} role="group" aria-label={t`What it changed`}>
      {lineDiff(before, after).map(({ kind, text }, index) => (
        <div key={index} data-kind={kind}>
          {MARKS[kind]} {text}
        </div>
      ))}
    </pre>
  );
}
