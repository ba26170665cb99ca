/** Takes back all that a run changed, and says so once it was. */
import { plural, t } from '@lingui/core/macro';
import { Alert, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { usePersonName } from '@/api/members';
import type { Action, RunDetail } from '@/api/run-types';
import { actionsQuery, isFinal } from '@/api/runs';
import { useMay, useProject } from '@/app/project';
import { RelativeTime } from '@/components/Moment';
import { TakeBackDialog } from '@/components/taking-back/TakeBackDialog';
import { useDialog } from '@/components/use-search-param';

const goesBack = ({ way }: Action) => way === 'version' || way === 'inverse';

function useActions(run: RunDetail): Action[] {
  const project = useProject();
  const mayLook = useMay('viewer');
  return useQuery({ ...actionsQuery(project.id, run.id), enabled: mayLook }).data ?? [];
}

export function TakeBackButton({ run }: { run: RunDetail }) {
  const mayTurn = useMay('operator');
  const dialog = useDialog('take-back');
  const actions = useActions(run);
  if (!mayTurn || !isFinal(run.status)) return null;
  if (!actions.some((action) => goesBack(action) && !action.undone)) return null;
  return (
    <>
      <Button variant="default" leftSection={<Undo2 size={14} aria-hidden />} onClick={dialog.open}>
        {t`Take back this run`}
      </Button>
      <TakeBackDialog
        title={t`Take back this run`}
        whole={{ run_id: run.id }}
        opened={dialog.opened}
        onClose={dialog.close}
      />
    </>
  );
}

export function TakenBack({ run }: { run: RunDetail }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const actions = useActions(run);
  const undone = actions.filter(({ undone }) => undone);
  if (undone.length === 0) return null;
  const isWhole = actions.every((action) => action.undone || action.way === 'none');
  const last = undone.reduce((a, b) => ((a.turned_at ?? '') > (b.turned_at ?? '') ? a : b));
  const total = actions.length;
  const author = nameOf(last.turned_by ?? '') ?? t`a former member`;
  return (
    <Alert
      color="gray"
      variant="light"
      icon={<Undo2 size={16} aria-hidden />}
      title={isWhole ? t`This run was taken back` : t`Part of this run was taken back`}
    >
      {plural(total, {
        one: `${undone.length} of ${total} change was undone by ${author}`,
        other: `${undone.length} of ${total} changes were undone by ${author}`,
      })}
      {last.turned_at !== null && (
        <>
          , <RelativeTime value={last.turned_at} />
        </>
      )}
      .
    </Alert>
  );
}
