/** Tools of an MCP server: what it says of them, what was accepted, and how risky an admin judges them. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Code, Drawer, Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Check, CircleDashed, CircleOff, RotateCw, TriangleAlert, Wrench } from 'lucide-react';
import { useState } from 'react';
import {
  type Connection,
  type ServerTool,
  serverToolsQuery,
  useAcceptProgram,
  useAcceptTools,
  useConfirmRoles,
  useLookAtTools,
  useSetToolRisk,
  useWithdrawTool,
} from '@/api/connections';
import { useMay } from '@/app/project';
import { Chip } from '@/components/Chip';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { JsonTree } from '@/components/JsonTree';
import { RiskChip, riskWord } from '@/components/RiskChip';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import classes from './connections.module.css';
import { proposedRoles, saidRoles, ToolRoles } from './ToolRoles';

const STATES = {
  new: { word: t`Not accepted`, icon: CircleDashed, tone: 'neutral' },
  accepted: { word: t`Accepted`, icon: Check, tone: 'good' },
  changed: { word: t`Changed since`, icon: TriangleAlert, tone: 'bad' },
  gone: { word: t`No longer offered`, icon: CircleOff, tone: 'neutral' },
} as const;
const RISKS = ['read', 'compute', 'write', 'external_send', 'destructive', 'admin', 'secret'];

interface Props {
  projectId: string;
  connection: Connection | null;
  onClose: () => void;
}

export function ServerTools({ projectId, connection, onClose }: Props) {
  return (
    <Drawer
      opened={connection !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title={connection ? t`Tools of ${connection.name}` : ''}
    >
      {connection && <Tools projectId={projectId} connection={connection} />}
    </Drawer>
  );
}

function Tools({ projectId, connection }: { projectId: string; connection: Connection }) {
  const query = useQuery(serverToolsQuery(projectId, connection.id));
  const look = useLookAtTools(projectId);
  const accept = useAcceptTools(projectId);
  const mayManage = useMay('admin');
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const tools = query.data ?? [];
  const waiting = tools.filter(({ state }) => state === 'new' || state === 'changed');
  const blocked = connection.program !== null && !connection.program.accepted;
  const onAcceptAll = () =>
    accept.mutate({ id: connection.id, tools: waiting }, { onError: showFailure });
  const ask = mayManage && !blocked && (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<RotateCw size={13} aria-hidden />}
      loading={look.isPending}
      onClick={() => look.mutate(connection.id, { onError: showFailure })}
    >
      {t`Ask the server`}
    </Button>
  );
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t`Agents may call a tool once it is accepted. What the server writes about a tool is its own word; if it changes, the tool must be accepted again. Accepting a tool confirms what its arguments are for, as shown. “Accept all” does not confirm that.`}
      </Text>
      <Program projectId={projectId} connection={connection} />
      <Group gap="xs">
        {ask}
        {mayManage && waiting.length > 1 && (
          <Button size="compact-sm" loading={accept.isPending} onClick={onAcceptAll}>
            {t`Accept all ${waiting.length}`}
          </Button>
        )}
      </Group>
      {!query.isPending && tools.length === 0 ? (
        <EmptyState icon={Wrench} title={t`No tools seen yet`}>
          {blocked ? t`The program must be accepted first.` : t`Ask the server what it offers.`}
        </EmptyState>
      ) : (
        <div>
          {tools.map((tool) => (
            <Tool key={`${tool.name} ${tool.hash}`} {...{ projectId, connection, tool }} />
          ))}
        </div>
      )}
    </Stack>
  );
}

/** The program that the connection starts on the machine, and whether somebody allowed it. */
function Program({ projectId, connection }: { projectId: string; connection: Connection }) {
  const accept = useAcceptProgram(projectId);
  const { program, id } = connection;
  if (program === null || program.accepted) return null;
  const onAccept = () =>
    accept.mutate(
      { id, hash: program.hash },
      { onSuccess: () => showDone(t`Program accepted`), onError: showFailure },
    );
  return (
    <Alert color="yellow" title={t`This connection starts a program on the machine`}>
      <Stack gap="xs" align="flex-start">
        <Code block className={classes.place} style={{ whiteSpace: 'pre-wrap' }} w="100%">
          {program.command.join('\n')}
        </Code>
        <Text size="sm">
          {t`It runs with Steward’s own rights. Somebody who runs this installation can accept exactly these words; every change of them asks again.`}
        </Text>
        <Button size="compact-sm" color="yellow" loading={accept.isPending} onClick={onAccept}>
          {t`Accept this program`}
        </Button>
      </Stack>
    </Alert>
  );
}

interface ToolProps {
  projectId: string;
  connection: Connection;
  tool: ServerTool;
}

function Tool({ projectId, connection, tool }: ToolProps) {
  const mayManage = useMay('admin');
  const withdraw = useWithdrawTool(projectId);
  const accept = useAcceptTools(projectId);
  const setRisk = useSetToolRisk(projectId);
  const confirm = useConfirmRoles(projectId);
  const [chosen, setChosen] = useState(() => proposedRoles(tool));
  const { name, state, description, accepted_description } = tool;
  const onAccept = () =>
    accept.mutate(
      { id: connection.id, tools: [tool], roles: { [name]: saidRoles(chosen) } },
      { onError: showFailure },
    );
  const onConfirm = () =>
    confirm.mutate(
      { id: connection.id, tool, roles: saidRoles(chosen) },
      { onSuccess: () => showDone(t`Roles of ${name} confirmed`), onError: showFailure },
    );
  const onWithdraw = () =>
    withdraw.mutate(
      { id: connection.id, name },
      {
        onSuccess: () =>
          offerUndo({
            message: t`${name} can no longer be called`,
            undo: () => accept.mutateAsync({ id: connection.id, tools: [tool] }),
            undone: t`${name} is accepted again`,
          }),
        onError: showFailure,
      },
    );
  const onRisk = (next: string | null) =>
    setRisk.mutate(
      { id: connection.id, name, risk: next as ServerTool['chosen_risk'] },
      { onError: showFailure },
    );
  return (
    <section className={classes.tool} aria-label={tool.title}>
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {tool.title}
          </Text>
          <Chip {...STATES[state]} />
          <RiskChip risk={tool.risk} />
        </Group>
        {mayManage && (state === 'new' || state === 'changed') && (
          <Button size="compact-sm" aria-label={t`Accept ${name}`} onClick={onAccept}>
            {state === 'changed' ? t`Accept the change` : t`Accept`}
          </Button>
        )}
        {mayManage && state === 'accepted' && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            aria-label={t`Withdraw ${name}`}
            onClick={onWithdraw}
          >
            {t`Withdraw`}
          </Button>
        )}
      </Group>
      <Code fz="xs">{tool.tool}</Code>
      {accepted_description !== null && (
        <Text size="sm" c="dimmed" className={classes.foreign}>
          {t`Accepted as: ${accepted_description || t`no description`}`}
        </Text>
      )}
      <Text size="sm" className={classes.foreign}>
        {description === '' ? t`The server does not describe it.` : description}
      </Text>
      <JsonTree value={tool.arguments} label={t`Arguments`} openTo={0} />
      {mayManage && state !== 'gone' && (
        <ToolRoles
          {...{ tool, chosen }}
          onChange={setChosen}
          onConfirm={state === 'accepted' ? onConfirm : undefined}
          isPending={confirm.isPending}
        />
      )}
      {mayManage && (
        <Select
          size="xs"
          maw="20rem"
          label={t`Risk of ${name}`}
          description={t`What a call can do at worst. The server’s hints only ever raise it.`}
          placeholder={t`As the hints have it: ${riskWord(tool.risk)}`}
          data={RISKS.map((risk) => ({ value: risk, label: riskWord(risk) }))}
          value={tool.chosen_risk}
          clearable
          onChange={onRisk}
        />
      )}
    </section>
  );
}
