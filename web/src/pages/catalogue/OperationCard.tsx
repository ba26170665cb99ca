/** One operation: called once, offered to agents, its risk and what its arguments are for. */
import { t } from '@lingui/core/macro';
import {
  Alert,
  Button,
  Code,
  Group,
  Select,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import {
  type OperationDetail,
  operationQuery,
  useConfirmOperationRoles,
  useOffer,
  useSetOperationRisk,
} from '@/api/catalogue';
import { startRun } from '@/api/runs';
import { projectPath, useMay, useProject } from '@/app/project';
import { ARGUMENT_ROLES, type DeclaredRole } from '@/components/argument-roles';
import { ErrorState } from '@/components/ErrorState';
import { JsonTree } from '@/components/JsonTree';
import { riskWord } from '@/components/RiskChip';
import type { FormValues } from '@/components/schema-form';
import { toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import { showDone, showFailure } from '@/components/undo';
import { ShownOf } from '@/components/ShownOf';
import classes from './catalogue.module.css';

const RISKS = ['read', 'write', 'external_send', 'destructive', 'admin'] as const;

export function OperationCard({ service, operation }: { service: string; operation: string }) {
  const project = useProject();
  const query = useQuery(operationQuery(project.id, service, operation));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={80} aria-busy />;
  return <Card key={query.data.hash} service={service} operation={query.data} />;
}

interface CardProps {
  service: string;
  operation: OperationDetail;
}

function Card({ service, operation }: CardProps) {
  const project = useProject();
  const mayManage = useMay('admin');
  const mayCall = useMay('operator');
  const offer = useOffer(project.id, service);
  const { name, tools, offered } = operation;
  const onOffer = () =>
    offer.mutate(
      { name, offered: !offered },
      {
        onSuccess: () =>
          showDone(offered ? t`${name} is no longer listed` : t`${name} is listed now`),
        onError: showFailure,
      },
    );
  return (
    <Stack gap="sm" mt="xs">
      {operation.description !== '' && (
        <Text size="sm" className={classes.foreign}>
          {operation.description}
        </Text>
      )}
      {tools[0] !== undefined && <Code fz="xs">{tools[0]}</Code>}
      {mayManage && (
        <Group gap="xs">
          <Button size="compact-sm" variant="light" loading={offer.isPending} onClick={onOffer}>
            {offered ? t`No longer list among the tools` : t`List among the tools`}
          </Button>
        </Group>
      )}
      {mayCall &&
        (tools.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t`Connect to the service to call this operation.`}
          </Text>
        ) : (
          <CallOnce operation={operation} />
        ))}
      {mayManage && <Judgement service={service} operation={operation} />}
      {operation.answer !== null && (
        <JsonTree value={operation.answer} label={t`Schema of the answer`} openTo={0} />
      )}
    </Stack>
  );
}

/** A run of one call: policy and approvals hold for it as for any other. */
function CallOnce({ operation }: { operation: OperationDetail }) {
  const project = useProject();
  const navigate = useNavigate();
  const fields = toolFieldsOf(operation.arguments, false);
  const [values, setValues] = useState<FormValues>(() => toolValues(fields));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const tool = operation.tools[0] ?? '';
  const call = useMutation({
    mutationFn: (given: Record<string, unknown>) =>
      startRun(project.id, { tool, arguments: given, title: operation.title }),
    onSuccess: (run) => void navigate({ to: projectPath(project.id, 'runs', run.id) }),
    onError: showFailure,
  });
  const onCall = () => {
    const read = toolArguments(fields, values);
    setErrors(read.problems ?? {});
    if (read.problems === null) call.mutate(read.arguments);
  };
  return (
    <Fold label={t`Call it once`}>
      <Stack gap="sm">
        <ToolForm
          tool={tool}
          fields={fields}
          values={values}
          errors={errors}
          onChange={setValues}
        />
        <div>
          <Button size="compact-sm" loading={call.isPending} onClick={onCall}>
            {t`Call`}
          </Button>
        </div>
      </Stack>
    </Fold>
  );
}

function Judgement({ service, operation }: CardProps) {
  const project = useProject();
  const setRisk = useSetOperationRisk(project.id, service);
  const confirm = useConfirmOperationRoles(project.id, service);
  const [reason, setReason] = useState(operation.risk_reason ?? '');
  const shownArguments = operation.arguments_by_role.slice(0, 60);
  const [chosen, setChosen] = useState<Record<string, DeclaredRole | null>>(() =>
    Object.fromEntries(
      operation.arguments_by_role.map(({ path, role, proposed }) => [path, role ?? proposed]),
    ),
  );
  const { name, hash } = operation;
  const said = Object.fromEntries(
    Object.entries(chosen).filter((each): each is [string, DeclaredRole] => each[1] !== null),
  );
  return (
    <Fold label={t`Risk and what the arguments are for`}>
      <Stack gap="xs">
        <TextInput
          size="xs"
          maw="24rem"
          label={t`Reason`}
          description={t`Needed to lower the risk. It is kept on record.`}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <Select
          size="xs"
          maw="24rem"
          label={t`Risk`}
          description={t`What a call can do at worst. By default its verb decides.`}
          placeholder={riskWord(operation.risk)}
          data={RISKS.map((risk) => ({ value: risk, label: riskWord(risk) }))}
          value={operation.chosen_risk}
          clearable
          onChange={(risk) =>
            setRisk.mutate(
              { name, risk, reason },
              { onSuccess: () => showDone(t`Risk of ${name} set`), onError: showFailure },
            )
          }
        />
        {!operation.roles_confirmed && operation.arguments_by_role.length > 0 && (
          <Alert color="yellow" variant="light">
            {t`No one has confirmed what the arguments are for. Until then agents can only use values that you or an approved plan name.`}
          </Alert>
        )}
        {shownArguments.map(({ path, description }) => (
          <Select
            key={path}
            size="xs"
            maw="24rem"
            label={path}
            description={description}
            placeholder={t`Choose what it is for`}
            data={Object.entries(ARGUMENT_ROLES)
              .filter(([role]) => role !== 'undeclared')
              .map(([value, { word }]) => ({ value, label: word }))}
            value={chosen[path] ?? null}
            clearable
            onChange={(next) => setChosen({ ...chosen, [path]: next as DeclaredRole | null })}
          />
        ))}
        <ShownOf
          shown={shownArguments.length}
          all={operation.arguments_by_role.length}
          of={t`arguments`}
        />
        {operation.arguments_by_role.length > 0 && (
          <div>
            <Button
              size="compact-sm"
              variant="light"
              loading={confirm.isPending}
              onClick={() =>
                confirm.mutate(
                  { name, hash, roles: said },
                  {
                    onSuccess: () => showDone(t`Roles of ${name} confirmed`),
                    onError: showFailure,
                  },
                )
              }
            >
              {t`Confirm`}
            </Button>
          </div>
        )}
      </Stack>
    </Fold>
  );
}

function Fold({ label, children }: { label: string; children: ReactNode }) {
  const [opened, setOpened] = useState(false);
  return (
    <Stack gap={6} align="stretch">
      <div>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={opened}
          rightSection={<ChevronDown size={13} aria-hidden />}
          onClick={() => setOpened(!opened)}
        >
          {label}
        </Button>
      </div>
      {opened && children}
    </Stack>
  );
}
