/** Revisions of the definitions, newest first, each with what it changed; an earlier one can be restored. */
import { plural, t } from '@lingui/core/macro';
import { Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, History } from 'lucide-react';
import { useState } from 'react';
import {
  type DefinitionChange,
  definitionDiffQuery,
  definitionHistoryQuery,
  type DefinitionRevision,
  type Entry,
} from '@/api/definitions';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import classes from './definitions.module.css';
import { nameOfPointer } from './entries';

interface Props {
  current: number;
  mayEdit: boolean;
  onRestore: (revision: number) => void;
}

export function DefinitionHistory({ current, mayEdit, onRestore }: Props) {
  const project = useProject();
  const query = useQuery(definitionHistoryQuery(project.id));
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={80} aria-busy />;
  if (query.data.items.length === 0) {
    return (
      <EmptyState icon={History} title={t`Nothing changed yet`}>
        {t`Every change makes a revision. You can compare revisions and restore an earlier one.`}
      </EmptyState>
    );
  }
  return (
    <ol className={classes.list} reversed>
      {query.data.items.map((revision) => (
        <OneRevision
          key={revision.revision}
          revision={revision}
          isCurrent={revision.revision === current}
          mayEdit={mayEdit}
          onRestore={onRestore}
        />
      ))}
    </ol>
  );
}

interface RevisionProps {
  revision: DefinitionRevision;
  isCurrent: boolean;
  mayEdit: boolean;
  onRestore: (revision: number) => void;
}

function OneRevision({ revision, isCurrent, mayEdit, onRestore }: RevisionProps) {
  const formats = useFormats();
  const [isOpen, setOpen] = useState(false);
  const { revision: number, changes } = revision;
  const message =
    revision.message ||
    plural(changes, { one: `${changes} entry changed`, other: `${changes} entries changed` });
  return (
    <li className={classes.entry}>
      <details className={classes.what} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={classes.summary}>
          <ChevronRight size={14} aria-hidden className={classes.chevron} />
          <Text span size="sm" fw={500}>
            {number}. {message}
            {isCurrent && t` (current)`}
          </Text>
          <Text span size="xs" c="dimmed">
            {revision.author_name ?? t`A former member`}
            {revision.created_at && `, ${formats.dateTime(revision.created_at)}`}
          </Text>
        </summary>
        {isOpen && <Differences left={number - 1} right={number} />}
      </details>
      {mayEdit && (
        <Button
          variant="default"
          size="compact-sm"
          aria-label={isCurrent ? t`Undo revision ${number}` : t`Restore revision ${number}`}
          onClick={() => onRestore(isCurrent ? number - 1 : number)}
        >
          {isCurrent ? t`Undo` : t`Restore`}
        </Button>
      )}
    </li>
  );
}

function Differences({ left, right }: { left: number; right: number }) {
  const project = useProject();
  const query = useQuery(definitionDiffQuery(project.id, left, right));
  if (query.isError) return <ErrorState error={query.error} />;
  if (!query.data) return <Skeleton height={40} aria-busy />;
  return (
    <ul className={classes.diff}>
      {query.data.map((change) => (
        <li key={change.entry}>
          <Text size="sm">{inWords(change)}</Text>
        </li>
      ))}
    </ul>
  );
}

const SILENT = new Set(['why', 'by']);

function inWords({ entry, before, after }: DefinitionChange): string {
  const name = nameOfPointer(entry);
  if (after === null) return t`${name}: removed`;
  const fields = Object.keys({ ...before, ...after }).filter(
    (field) => !SILENT.has(field) && shown(before, field) !== shown(after, field),
  );
  const said = fields.map(
    (field) => `${field.replaceAll('_', ' ')} ${shown(before, field)} → ${shown(after, field)}`,
  );
  return `${name}: ${said.join(', ') || 'changed'}`;
}

function shown(entry: Entry | null | undefined, field: string): string {
  const value = entry?.[field];
  if (value === undefined || value === null) return field === 'state' ? 'proposed' : t`not set`;
  if (Array.isArray(value)) return value.join(', ') || 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
