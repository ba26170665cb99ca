/** Adds a budget, or changes the limits of one. */
import { t } from '@lingui/core/macro';
import { Modal, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { agentsQuery } from '@/api/agents';
import { alertRulesQuery } from '@/api/alerts';
import { type BudgetItem, type NewBudget, useAddBudget, useSetBudget } from '@/api/budgets';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';

type Kind = NewBudget['kind'];

const KINDS: { value: Kind; label: string }[] = [
  { value: 'project', label: t`The whole project` },
  { value: 'flow', label: t`A flow` },
  { value: 'agent', label: t`An agent` },
  { value: 'person', label: t`A person` },
];
const PERIODS: { value: NewBudget['period']; label: string }[] = [
  { value: 'day', label: t`Day` },
  { value: 'week', label: t`Week (from Monday)` },
  { value: 'month', label: t`Month` },
];

interface Props {
  kept: BudgetItem | null;
  onClose: () => void;
}

export default function BudgetDialog({ kept, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={kept === null ? t`Add a budget` : t`Change the budget`}
      size="34rem"
    >
      <BudgetForm kept={kept} onClose={onClose} />
    </Modal>
  );
}

function BudgetForm({ kept, onClose }: Props) {
  const project = useProject();
  const add = useAddBudget(project.id);
  const set = useSetBudget(project.id);
  const [kind, setKind] = useState<Kind>(kept?.kind ?? 'project');
  const [name, setName] = useState<string>(kept?.name ?? '');
  const [period, setPeriod] = useState<NewBudget['period']>(kept?.period ?? 'month');
  const [usd, setUsd] = useState<number | string>(kept?.usd.limit ?? '');
  const [tokens, setTokens] = useState<number | string>(kept?.tokens.limit ?? '');
  const limits = {
    usd: typeof usd === 'number' ? usd : null,
    tokens: typeof tokens === 'number' ? tokens : null,
  };
  const isReady =
    (limits.usd !== null || limits.tokens !== null) && (kind === 'project' || name !== '');
  const done = {
    onSuccess: () => {
      showDone(t`Budget saved`);
      onClose();
    },
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (kept === null) add.mutate({ kind, name, period, ...limits }, done);
    else set.mutate({ saved: kept, limits }, done);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {kept === null ? (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <Select
                label={t`Budget of`}
                data={KINDS}
                value={kind}
                allowDeselect={false}
                onChange={(value) => {
                  if (value === null) return;
                  setKind(value);
                  setName('');
                }}
              />
              <Select
                label={t`For each`}
                description={t`Starts at midnight UTC.`}
                inputWrapperOrder={['label', 'input', 'description']}
                data={PERIODS}
                value={period}
                allowDeselect={false}
                onChange={(value) => value !== null && setPeriod(value)}
              />
            </SimpleGrid>
            {kind !== 'project' && <NameField kind={kind} value={name} onChange={setName} />}
          </>
        ) : (
          <TextInput label={t`Budget of`} value={kept.title} readOnly />
        )}
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <NumberInput
            label={t`Dollars at most`}
            prefix="$"
            min={0}
            value={usd}
            data-autofocus
            onChange={setUsd}
          />
          <NumberInput
            label={t`Tokens at most`}
            min={0}
            allowDecimal={false}
            thousandSeparator=","
            value={tokens}
            onChange={setTokens}
          />
        </SimpleGrid>
        <Text size="sm" c="dimmed">
          {t`Set one limit or both. Before each request, Steward sets aside what it may cost. A run whose request does not fit waits until the budget resets or an admin raises it.`}
        </Text>
        <FormError error={add.error ?? set.error} />
        <FormFooter
          submit={kept === null ? t`Add budget` : t`Save budget`}
          isPending={add.isPending || set.isPending}
          isDisabled={!isReady}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

interface NameProps {
  kind: Exclude<Kind, 'project'>;
  value: string;
  onChange: (name: string) => void;
}

function NameField({ kind, value, onChange }: NameProps) {
  const project = useProject();
  const flows = useQuery({ ...alertRulesQuery(project.id), enabled: kind === 'flow' }).data?.flows;
  const agents = useQuery({ ...agentsQuery(project.id), enabled: kind === 'agent' }).data;
  const members = itemsOf(
    useInfiniteQuery({ ...membersQuery(project.id), enabled: kind === 'person' }).data,
  );
  const data = {
    flow: (flows ?? []).map(({ flow, title }) => ({ value: flow, label: title })),
    agent: (agents ?? []).map((each) => ({ value: each.name, label: each.title })),
    person: members.map((each) => ({ value: each.user_id, label: each.name })),
  }[kind];
  return (
    <Select
      label={{ flow: t`Flow`, agent: t`Agent`, person: t`Person` }[kind]}
      withAsterisk
      searchable
      data={data}
      value={value === '' ? null : value}
      nothingFoundMessage={t`Nothing found`}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  );
}
