/** What undoing a commit would do: what goes back, and the later changes that go back with it. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Commit, UndoPlan } from '@/api/data-types';
import { undoPlanQuery } from '@/api/history';
import { projectKey } from '@/api/keys';
import { undoData } from '@/components/data-undo';
import { ErrorState } from '@/components/ErrorState';
import { TakeBackChoice } from '@/components/taking-back/TakeBackDialog';
import classes from './history.module.css';

interface Props {
  projectId: string;
  commit: Commit | null;
  onClose: () => void;
}

export function UndoDialog({ projectId, commit, onClose }: Props) {
  return (
    <Modal opened={commit !== null} onClose={onClose} title={t`Undo`} size="38rem">
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
  if (query.data.dependants.length > 0 || query.data.blocked.length > 0) {
    return (
      <TakeBackChoice
        whole={{ commit: commit.id }}
        onClose={onClose}
        undoOtherRows={() => undo.mutate()}
      />
    );
  }
  return (
    <Stack>
      <Text size="sm" fw={500}>
        {commit.message}
      </Text>
      <Entries plan={query.data} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button onClick={() => undo.mutate()} loading={undo.isPending} data-autofocus>
          {t`Undo`}
        </Button>
      </Group>
    </Stack>
  );
}

function Entries({ plan: { entries } }: { plan: UndoPlan }) {
  return (
    <ul className={classes.plan}>
      {entries.map(({ kind, name, after }) => (
        <li key={`${kind} ${name}`}>
          {after === null
            ? t`${name} is removed; it did not exist before`
            : t`${name} goes back to its earlier version`}
        </li>
      ))}
    </ul>
  );
}
