/** Names of the project's secrets; values go in and are never shown. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Code, Group } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { LockKeyhole, Plus } from 'lucide-react';
import { projectKey } from '@/api/keys';
import { dropFromList } from '@/api/lists';
import { usePersonName } from '@/api/members';
import { secretsQuery, useDeleteSecret, useRestoreSecret } from '@/api/secrets';
import type { Secret } from '@/api/types';
import { useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { offerUndo, showFailure } from '@/components/undo';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { SecretDialog } from './SecretDialog';

function useDelete(projectId: string) {
  const client = useQueryClient();
  const remove = useDeleteSecret(projectId);
  const restore = useRestoreSecret(projectId);
  return ({ name }: Secret) => {
    const offer = () =>
      offerUndo({
        message: t`${name} deleted`,
        undo: () => restore.mutateAsync(name),
        undone: t`${name} is back`,
      });
    dropFromList<Secret>(client, projectKey(projectId, 'secret'), (item) => item.name === name);
    remove.mutate(name, { onSuccess: offer, onError: showFailure });
  };
}

export default function SecretsPage() {
  const project = useProject();
  const query = useInfiniteQuery(secretsQuery(project.id));
  const dialog = useDialog('set');
  const [replaced, setReplaced] = useSearchParam('replace');
  const onDelete = useDelete(project.id);
  const nameOf = usePersonName(project.id);
  const mayManage = useMay('admin');
  const columns: Column<Secret>[] = [
    { id: 'name', header: t`Name`, cell: ({ name }) => <Code fz="sm">{name}</Code> },
    {
      id: 'place',
      header: t`Where the value is`,
      hideBelow: 'sm',
      cell: ({ source, reference }) =>
        source === null ? t`In Steward, encrypted` : `${source}: ${reference}`,
    },
    {
      id: 'changed',
      header: t`Last set`,
      width: '16rem',
      hideBelow: 'sm',
      cell: ({ updated_at, updated_by }) => (
        <>
          <Trans>
            <RelativeTime value={updated_at} /> by {nameOf(updated_by) ?? t`a former member`}
          </Trans>
        </>
      ),
    },
    {
      id: 'actions',
      header: t`Replace or delete`,
      quietHeader: true,
      align: 'end',
      width: '11rem',
      cell: (secret) =>
        mayManage && (
          <SecretActions
            secret={secret}
            onReplace={() => setReplaced(secret.name)}
            onDelete={() => onDelete(secret)}
          />
        ),
    },
  ];
  const add = mayManage && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
      {t`Set a secret`}
    </Button>
  );
  return (
    <Page
      title={t`Secrets`}
      description={t`Passwords and keys that connections and tools use by name. No one can read a value after it is saved.`}
      actions={add}
    >
      <DataTable
        label={t`Secrets`}
        columns={columns}
        query={query}
        rowKey={({ name }) => name}
        empty={
          <EmptyState icon={LockKeyhole} picture="list" title={t`No secrets yet`}>
            <Trans>
              Give each secret a name such as <Code>WAREHOUSE_PASSWORD</Code>.
            </Trans>
          </EmptyState>
        }
      />
      <SecretDialog
        projectId={project.id}
        opened={mayManage && dialog.opened}
        onClose={dialog.close}
      />
      <SecretDialog
        projectId={project.id}
        opened={mayManage && replaced !== null}
        replaced={replaced}
        onClose={() => setReplaced(null)}
      />
    </Page>
  );
}

interface ActionsProps {
  secret: Secret;
  onReplace: () => void;
  onDelete: () => void;
}

function SecretActions({ secret, onReplace, onDelete }: ActionsProps) {
  const look = { variant: 'subtle', color: 'gray', size: 'compact-sm' } as const;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button {...look} aria-label={t`Replace ${secret.name}`} onClick={onReplace}>
        {t`Replace`}
      </Button>
      <Button {...look} aria-label={t`Delete ${secret.name}`} onClick={onDelete}>
        {t`Delete`}
      </Button>
    </Group>
  );
}
