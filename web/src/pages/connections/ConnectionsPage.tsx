/** What the project may reach: listed with health, tested, changed, and found on the machine. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Cable, Plus } from 'lucide-react';
import {
  type Connection,
  connectionsQuery,
  useCheckConnection,
  useDeleteConnection,
  useRestoreConnection,
} from '@/api/connections';
import { projectKey } from '@/api/keys';
import { dropFromList, itemsOf } from '@/api/lists';
import { projectPath, useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Page } from '@/components/Page';
import { showToast } from '@/components/toasts';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { ConnectionDialog } from './ConnectionDialog';
import classes from './connections.module.css';
import { Health, Timeline } from './Health';
import { Proposals } from './Proposals';
import { ServerTools } from './ServerTools';
import { needsSignIn, SignInButton, SignInStatus, useSignInOutcome } from './SignIn';

function useActions(projectId: string) {
  const client = useQueryClient();
  const check = useCheckConnection(projectId);
  const remove = useDeleteConnection(projectId);
  const restore = useRestoreConnection(projectId);
  return {
    testing: check.isPending ? check.variables : null,
    test: ({ id, name }: Connection) =>
      check.mutate(id, {
        onSuccess: ({ worked, words }) => {
          if (worked) showDone(t`${name} works: ${words}`);
          else
            showToast({
              tone: 'failure',
              shownFor: 10_000,
              title: t`${name} does not work`,
              message: words,
            });
        },
        onError: showFailure,
      }),
    remove: ({ id, name }: Connection) => {
      const key = projectKey(projectId, 'connection');
      dropFromList<Connection>(client, key, (item) => item.id === id);
      remove.mutate(id, {
        onSuccess: () =>
          offerUndo({
            message: t`${name} deleted`,
            undo: () => restore.mutateAsync(id),
            undone: t`${name} is back`,
          }),
        onError: showFailure,
      });
    },
  };
}

export default function ConnectionsPage() {
  const project = useProject();
  const query = useInfiniteQuery(connectionsQuery(project.id));
  const dialog = useDialog('add');
  const [changedId, setChanged] = useSearchParam('change');
  const [toolsOf, setToolsOf] = useSearchParam('tools');
  const actions = useActions(project.id);
  const mayManage = useMay('admin');
  const mayTest = useMay('operator');
  const known = itemsOf(query.data);
  const changed = known.find(({ id }) => id === changedId) ?? null;
  const server = known.find(({ id }) => id === toolsOf) ?? null;
  useSignInOutcome(known);
  // A program waits for somebody to accept it, a server for a sign-in; everything else can be tried at once.
  const onSaved = (connection: Connection) => {
    if (connection.program !== null && !connection.program.accepted) setToolsOf(connection.id);
    else if (!needsSignIn(connection)) actions.test(connection);
  };
  const columns: Column<Connection>[] = [
    { id: 'name', header: t`Connection`, cell: (connection) => <About connection={connection} /> },
    {
      id: 'health',
      header: t`Health`,
      width: '10rem',
      cell: (connection) => <Health connection={connection} />,
    },
    {
      id: 'checks',
      header: t`Latest checks`,
      width: '9rem',
      hideBelow: 'md',
      cell: (connection) => <Timeline connection={connection} />,
    },
    {
      id: 'actions',
      header: t`Test, change or delete`,
      quietHeader: true,
      align: 'end',
      width: '21rem',
      ownLine: true,
      cell: (connection) => (
        <Actions
          connection={connection}
          projectId={project.id}
          isTesting={actions.testing === connection.id}
          {...{ mayManage, mayTest }}
          onTest={() => actions.test(connection)}
          onTools={() => setToolsOf(connection.id)}
          onChange={() => setChanged(connection.id)}
          onDelete={() => actions.remove(connection)}
        />
      ),
    },
  ];
  const add = mayManage && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
      {t`Add a connection`}
    </Button>
  );
  return (
    <Page
      title={t`Connections`}
      description={t`Databases, storage, mail, Slack, APIs and MCP servers that tools and playbooks use by name. Passwords and keys are kept as secrets and never shown.`}
      actions={add}
    >
      <DataTable
        label={t`Connections`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Cable} picture="cards" title={t`No connections yet`} action={add}>
            {t`Connect a database to ask it questions and load its tables, or Slack to send results.`}
          </EmptyState>
        }
      />
      {mayManage && <Proposals projectId={project.id} onAccepted={onSaved} />}
      {mayManage && (
        <ConnectionDialog
          projectId={project.id}
          opened={dialog.opened || changed !== null}
          changed={changed}
          onClose={() => (changed === null ? dialog.close() : setChanged(null))}
          onSaved={onSaved}
        />
      )}
      <ServerTools projectId={project.id} connection={server} onClose={() => setToolsOf(null)} />
    </Page>
  );
}

/** Kinds that bring tools of their own, whose calls are counted for the connection. */
const COUNTED: ReadonlySet<string> = new Set(['mcp', 'service']);

function About({ connection }: { connection: Connection }) {
  const project = useProject();
  const { name, title, place, scope_hint } = connection;
  return (
    <>
      <Text size="sm" fw={500}>
        {name}{' '}
        <Text span size="xs" c="dimmed" fw={400}>
          {title}
        </Text>
      </Text>
      <Text size="xs" c="dimmed" className={classes.place}>
        {place}
      </Text>
      {scope_hint !== '' && <Text size="xs">{scope_hint}</Text>}
      {COUNTED.has(connection.kind) && (
        <Anchor
          component={Link}
          to={projectPath(project.id, 'overview', 'connector', encodeURIComponent(name))}
          size="xs"
          aria-label={t`Calls and errors of ${name}`}
        >
          {t`Calls and errors`}
        </Anchor>
      )}
      <SignInStatus connection={connection} />
    </>
  );
}

interface ActionsProps {
  connection: Connection;
  projectId: string;
  isTesting: boolean;
  mayManage: boolean;
  mayTest: boolean;
  onTest: () => void;
  onTools: () => void;
  onChange: () => void;
  onDelete: () => void;
}

function Actions(props: ActionsProps) {
  const { connection, isTesting, mayManage, mayTest, onTest, onTools, onChange, onDelete } = props;
  const look = { variant: 'subtle', color: 'gray', size: 'compact-sm' } as const;
  const { name } = connection;
  return (
    <Group gap={4} justify="flex-end">
      {mayManage && <SignInButton projectId={props.projectId} connection={connection} />}
      {connection.kind === 'mcp' && (
        <Button {...look} aria-label={t`Tools of ${name}`} onClick={onTools}>
          {t`Tools`}
        </Button>
      )}
      {mayTest && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t`Test ${name}`}
          loading={isTesting}
          onClick={onTest}
        >
          {t`Test`}
        </Button>
      )}
      {mayManage && (
        <>
          <Button {...look} aria-label={t`Change ${name}`} onClick={onChange}>
            {t`Change`}
          </Button>
          <Button {...look} aria-label={t`Delete ${name}`} onClick={onDelete}>
            {t`Delete`}
          </Button>
        </>
      )}
    </Group>
  );
}
