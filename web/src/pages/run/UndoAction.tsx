/** Takes an action of a run back, after showing what was built upon it; or puts it back in place. */
import { Alert, Button, Group, Modal, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Redo2, TriangleAlert, Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { Action } from '@/api/run-types';
import { actionUndoPlanQuery, useTurnAction } from '@/api/runs';
import { useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { useFormats } from '@/components/format';
import { showDone, showFailure } from '@/components/undo';
import classes from '@/components/waiting/waiting.module.css';

const WAYS: Record<string, string> = {
  version: 'The data goes back to how it was before.',
  inverse: 'The tool does the opposite.',
  compensation: 'The tool sends what makes up for it; what went out stays out.',
};

export function UndoAction({ runId, action }: { runId: string; action: Action }) {
  const project = useProject();
  const mayTurn = useMay('operator');
  const redo = useTurnAction(project.id, runId, 'redo');
  const [opened, setOpened] = useState(false);
  if (action.way === 'none') {
    return (
      <Text size="sm" c="dimmed">
        This cannot be undone.
      </Text>
    );
  }
  if (!mayTurn) return null;
  return (
    <div className={classes.actions}>
      {action.undone ? (
        <Button
          variant="default"
          leftSection={<Redo2 size={14} aria-hidden />}
          loading={redo.isPending}
          onClick={() =>
            redo.mutate(
              { key: action.key },
              { onSuccess: () => showDone('Done again'), onError: showFailure },
            )
          }
        >
          Redo
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<Undo2 size={14} aria-hidden />}
          onClick={() => setOpened(true)}
        >
          Undo
        </Button>
      )}
      <Modal opened={opened} onClose={() => setOpened(false)} title="Undo this" size="38rem">
        {opened && <Plan runId={runId} action={action} onClose={() => setOpened(false)} />}
      </Modal>
    </div>
  );
}

interface PlanProps {
  runId: string;
  action: Action;
  onClose: () => void;
}

function Plan({ runId, action, onClose }: PlanProps) {
  const project = useProject();
  const formats = useFormats();
  const plan = useQuery(actionUndoPlanQuery(project.id, runId, action.key));
  const undo = useTurnAction(project.id, runId, 'undo');
  const [mergeRows, setMergeRows] = useState(false);
  if (plan.isError) return <ErrorState error={plan.error} retry={() => void plan.refetch()} />;
  if (!plan.data) return <Skeleton height={80} aria-busy />;
  const { dependants, blocked } = plan.data;
  const run = () =>
    undo.mutate(
      { key: action.key, mergeRows },
      {
        onSuccess: () => {
          showDone('Undone');
          onClose();
        },
      },
    );
  return (
    <Stack>
      <Text size="sm">{action.summary}</Text>
      <Text size="sm" c="dimmed">
        {WAYS[action.way]}
      </Text>
      {dependants.length === 0 ? (
        <Text size="sm">Nothing was built upon it.</Text>
      ) : (
        <Alert
          color="yellow"
          variant="light"
          icon={<TriangleAlert size={16} aria-hidden />}
          title="Later work depends on it"
        >
          <ul>
            {dependants.map(({ commit, message, name, reason, created_at }) => (
              <li key={`${commit}/${name}`}>
                {message} ({name}, {formats.dateTime(created_at)}): {reason}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {blocked.length > 0 && (
        <Switch
          label="Put back only rows that nobody changed since"
          description={`Changed again meanwhile: ${blocked.join(', ')}`}
          checked={mergeRows}
          onChange={({ currentTarget }) => setMergeRows(currentTarget.checked)}
        />
      )}
      <FormError error={undo.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button loading={undo.isPending} disabled={blocked.length > 0 && !mergeRows} onClick={run}>
          Undo
        </Button>
      </Group>
    </Stack>
  );
}
