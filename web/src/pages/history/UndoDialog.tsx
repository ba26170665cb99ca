/** What undoing a commit would do: who built upon it first, then what goes back. */
import { Alert, Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import type { Commit, UndoPlan } from '@/api/data-types';
import { undoPlanQuery } from '@/api/history';
import { projectKey } from '@/api/keys';
import { usePersonName } from '@/api/members';
import { undoData } from '@/components/data-undo';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import classes from './history.module.css';

interface Props {
  projectId: string;
  commit: Commit | null;
  onClose: () => void;
}

export function UndoDialog({ projectId, commit, onClose }: Props) {
  return (
    <Modal opened={commit !== null} onClose={onClose} title="Undo">
      {commit && <PlannedUndo projectId={projectId} commit={commit} onClose={onClose} />}
    </Modal>
  );
}

interface PlannedProps extends Props {
  commit: Commit;
}

function PlannedUndo({ projectId, commit, onClose }: PlannedProps) {
  const client = useQueryClient();
  const query = useQuery(undoPlanQuery(projectId, commit.id));
  const undo = useMutation({
    mutationFn: () => undoData(projectId, commit.id),
    onSettled: () => {
      onClose();
      return client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
    },
  });
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={80} aria-busy />;
  const isBlocked = query.data.blocked.length > 0;
  return (
    <Stack>
      <Text size="sm" fw={500}>
        {commit.message}
      </Text>
      <Dependants projectId={projectId} plan={query.data} />
      <Entries plan={query.data} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          onClick={() => undo.mutate()}
          loading={undo.isPending}
          disabled={isBlocked}
          data-autofocus
        >
          Undo
        </Button>
      </Group>
    </Stack>
  );
}

function Dependants({ projectId, plan }: { projectId: string; plan: UndoPlan }) {
  const nameOf = usePersonName(projectId);
  const { dependants, blocked } = plan;
  if (dependants.length === 0 && blocked.length === 0) return null;
  return (
    <Alert
      color={blocked.length > 0 ? 'red' : 'yellow'}
      variant="light"
      icon={<TriangleAlert size={16} aria-hidden />}
      title={blocked.length > 0 ? 'Undo these first' : 'Built upon it'}
    >
      {blocked.length > 0 && <Text size="sm">{`Changed again since: ${blocked.join(', ')}.`}</Text>}
      <ul className={classes.plan}>
        {dependants.map(({ commit, message, author, created_at, name, reason }) => (
          <li key={`${commit} ${name}`}>
            {message}
            <Text span size="xs" c="dimmed" display="block">
              {`${reason} · ${nameOf(author) ?? 'someone'}, `}
              <RelativeTime value={created_at} />
            </Text>
          </li>
        ))}
      </ul>
    </Alert>
  );
}

function Entries({ plan: { entries } }: { plan: UndoPlan }) {
  return (
    <ul className={classes.plan}>
      {entries.map(({ kind, name, after }) => (
        <li key={`${kind} ${name}`}>
          {after === null
            ? `${name} goes away, as before`
            : `${name} goes back to what it was before`}
        </li>
      ))}
    </ul>
  );
}
