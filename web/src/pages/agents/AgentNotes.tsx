/** What an agent remembers between runs, newest first: which run wrote it, and a way to delete it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { NotebookPen } from 'lucide-react';
import {
  type AgentNote,
  agentNotesQuery,
  useDeleteNotes,
  useRestoreNotes,
} from '@/api/agent-notes';
import type { AgentDetail, AgentDocument } from '@/api/agents';
import { useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { RunLink } from '@/components/RunLink';
import { offerUndo, showFailure } from '@/components/undo';
import classes from './agents.module.css';

export function AgentNotes({ agent }: { agent: AgentDetail }) {
  const project = useProject();
  const mayEdit = useMay('editor');
  const mayRun = useMay('operator');
  const query = useQuery(agentNotesQuery(project.id, agent.name));
  const { onDelete, isPending } = useDeletion(agent.name);
  const { memory } = agent.document as unknown as AgentDocument;
  if (!query.data) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <Skeleton height={80} aria-busy />
    );
  }
  const notes = query.data;
  if (notes.length === 0) return <NothingYet memory={memory} />;
  const mayDelete = (note: AgentNote) => (note.per === 'person' ? mayRun : mayEdit);
  return (
    <Stack maw="52rem">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" flex="1 1 18rem">
          {about(memory, notes.length)}
        </Text>
        {notes.length > 1 && notes.every(mayDelete) && (
          <Button
            variant="default"
            size="compact-sm"
            loading={isPending}
            onClick={() => onDelete(null, t`${notes.length} notes deleted`)}
          >
            {t`Delete all`}
          </Button>
        )}
      </Group>
      <ul className={classes.history} aria-label={t`Notes`}>
        {notes.map((note) => (
          <OneNote
            key={note.id}
            note={note}
            isPending={isPending}
            onDelete={
              mayDelete(note) ? () => onDelete(note.id, t`Note ${note.number} deleted`) : null
            }
          />
        ))}
      </ul>
    </Stack>
  );
}

interface NoteProps {
  note: AgentNote;
  isPending: boolean;
  onDelete: (() => void) | null;
}

function OneNote({ note, isPending, onDelete }: NoteProps) {
  const formats = useFormats();
  return (
    <li className={classes.version}>
      <div className={classes.line}>
        <div className={classes.note}>
          <Text size="sm">{note.text}</Text>
          <Group gap="xs">
            <Text size="xs" c="dimmed">
              {note.per === 'person'
                ? t`${note.number}. ${formats.dateTime(note.created_at)}, in a run of ${note.author_name ?? t`a former member`} · only you see it`
                : t`${note.number}. ${formats.dateTime(note.created_at)}, in a run of ${note.author_name ?? t`a former member`}`}
            </Text>
            <RunLink runId={note.run_id} />
          </Group>
        </div>
        {onDelete && (
          <Button
            size="compact-sm"
            variant="default"
            disabled={isPending}
            aria-label={t`Delete note ${note.number}`}
            onClick={onDelete}
          >
            {t`Delete`}
          </Button>
        )}
      </div>
    </li>
  );
}

function NothingYet({ memory }: { memory: AgentDocument['memory'] }) {
  return memory ? (
    <EmptyState icon={NotebookPen} title={t`No notes yet`}>
      <Trans>
        When this agent keeps a note in a run, the note is listed here with a link to that run.
        {memory.per === 'person' && t` You see only the notes of your own runs.`}
      </Trans>
    </EmptyState>
  ) : (
    <EmptyState icon={NotebookPen} title={t`This agent remembers nothing`}>
      {t`Each run starts without knowledge of earlier runs. To change that, switch on its memory under Compose.`}
    </EmptyState>
  );
}

function about(memory: AgentDocument['memory'], count: number): string {
  if (!memory) {
    return t`The memory is switched off, so runs neither read these notes nor add to them.`;
  }
  const most = memory.keep ?? KEPT;
  return memory.per === 'person'
    ? t`${count} of at most ${most} notes from your own runs. Each of your runs starts with them.`
    : t`${count} of at most ${most} notes. Every run in this project starts with them.`;
}

/** How many notes an agent keeps where its document does not say. */
export const KEPT = 20;

function useDeletion(name: string) {
  const project = useProject();
  const remove = useDeleteNotes(project.id, name);
  const restore = useRestoreNotes(project.id, name);
  const onDelete = (noteId: string | null, message: string) =>
    remove.mutate(noteId, {
      onSuccess: ({ run_id: runId }) =>
        offerUndo({
          message,
          undo: () => restore.mutateAsync(runId),
          undone: noteId === null ? t`The notes are back` : t`The note is back`,
        }),
      onError: showFailure,
    });
  return { onDelete, isPending: remove.isPending || restore.isPending };
}
