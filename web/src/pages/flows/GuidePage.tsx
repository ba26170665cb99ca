/** A flow without drawing or YAML: five questions, and the answer opens on the canvas. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { Dataset } from '@/api/data-types';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { projectPath, useProject } from '@/app/project';
import { isMoment, isNumeric } from '@/components/column-types';
import { FormError } from '@/components/FormError';
import { Page } from '@/components/Page';
import { ScheduleFields, type ScheduleValue } from '@/components/schedule/ScheduleFields';
import { ownTimeZone } from '@/components/schedule/timing';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import {
  type Condition,
  guidedFlow,
  isComplete,
  type Making,
  NO_DELIVERY,
  type Operator,
  queryOf,
  type Summary,
} from '@/flows/guide';
import { OPERATORS } from '../dataset/data/filters';
import {
  DeliveryFields,
  deliveryProblem,
  MakeFields,
  makeProblem,
  SummaryFields,
} from './GuideParts';
import { isSwitchingOn, SaveGuided, useSaveGuided } from './SaveGuided';

export default function GuidePage() {
  const project = useProject();
  const save = useSaveGuided();
  const datasets = itemsOf(useInfiniteQuery(datasetsQuery(project.id)).data);
  const [dataset, setDataset] = useSearchParam('dataset');
  const [name, setName] = useState('');
  const [conditions, setConditions] = useState<Condition[]>([]);
  const [summary, setSummary] = useState<Summary | null>(null);
  const [make, setMake] = useState<Making>({ kind: 'report' });
  const [delivery, setDelivery] = useState(NO_DELIVERY);
  const [when, setWhen] = useState<ScheduleValue>({ cron: null, timeZone: ownTimeZone() });
  const [isTried, setTried] = useState(false);
  const source = datasets.find((each) => each.name === dataset);
  const columns = source?.columns ?? [];
  const problem =
    (source ? null : t`Choose the data.`) ??
    (conditions.every(isComplete) ? null : t`Complete every condition, or remove it.`) ??
    makeProblem(make) ??
    deliveryProblem(delivery) ??
    (name.trim() === '' ? t`Enter a name.` : null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || !source) return;
    const query = queryOf(source.name, conditions, summary);
    const work = query === null ? { dataset: source.name } : { query };
    const text = guidedFlow({ name: name.trim(), work, make, delivery, ...when });
    save.mutate({ text, deploys: isSwitchingOn(event) });
  };
  return (
    <Page
      title={t`New flow, step by step`}
      description={t`Answer five questions. You see the flow on the canvas before it runs, and can change everything there.`}
      parent={{ label: t`Flows`, to: projectPath(project.id, 'flows') }}
      width="narrow"
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="xl">
          <Section title={t`1. Data`}>
            <Select
              label={t`Dataset`}
              withAsterisk
              maw="28rem"
              data={datasets.map((each) => each.name)}
              value={source?.name ?? null}
              searchable
              allowDeselect={false}
              placeholder={t`Choose a dataset`}
              onChange={(next) => {
                setDataset(next);
                setConditions([]);
                setSummary(null);
              }}
            />
          </Section>
          <Section title={t`2. Filter`} description={t`Without a condition, all rows count.`}>
            <Conditions conditions={conditions} source={source} onChange={setConditions} />
          </Section>
          <Section title={t`3. What to make`}>
            <Stack gap="md">
              <SummaryFields summary={summary} columns={columns} onChange={setSummary} />
              <MakeFields
                make={make}
                columns={summary === null ? columns : []}
                onChange={setMake}
              />
            </Stack>
          </Section>
          <Section title={t`4. Who gets it`}>
            <DeliveryFields delivery={delivery} onChange={setDelivery} />
          </Section>
          <Section title={t`5. When`}>
            <ScheduleFields value={when} onChange={setWhen} allowsByHand />
          </Section>
          <TextInput
            label={t`Name`}
            withAsterisk
            maw="28rem"
            maxLength={100}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {isTried && problem !== null && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          )}
          <FormError error={save.error} />
          <SaveGuided hasSchedule={when.cron !== null} isPending={save.isPending} />
        </Stack>
      </form>
    </Page>
  );
}

interface ConditionsProps {
  conditions: readonly Condition[];
  source: Dataset | undefined;
  onChange: (conditions: Condition[]) => void;
}

const holdsOf = (type: string) =>
  isNumeric(type) ? 'number' : isMoment(type) ? 'moment' : ('text' as const);

function Conditions({ conditions, source, onChange }: ConditionsProps) {
  const columns = source?.columns ?? [];
  const fresh = (name: string): Condition => {
    const type = columns.find((column) => column.name === name)?.type ?? 'VARCHAR';
    return { column: name, type, holds: holdsOf(type), operator: 'eq', value: '' };
  };
  return (
    <Stack gap="sm">
      {conditions.map((condition, index) => (
        <ConditionRow
          key={index}
          number={index + 1}
          condition={condition}
          columns={columns.map(({ name }) => name)}
          onColumn={(name) => onChange(conditions.with(index, fresh(name)))}
          onChange={(next) => onChange(conditions.with(index, next))}
          onRemove={() => onChange(conditions.toSpliced(index, 1))}
        />
      ))}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Plus size={13} aria-hidden />}
          disabled={columns.length === 0}
          onClick={() => onChange([...conditions, fresh(columns[0]?.name ?? '')])}
        >
          {t`Add a condition`}
        </Button>
      </Group>
    </Stack>
  );
}

interface RowProps {
  number: number;
  condition: Condition;
  columns: readonly string[];
  onColumn: (name: string) => void;
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}

function ConditionRow({ number, condition, columns, onColumn, onChange, onRemove }: RowProps) {
  const { holds, operator, value } = condition;
  const operators = [
    ...OPERATORS,
    ...(holds === 'moment' ? [{ value: 'days', label: t`is in the last … days` }] : []),
  ];
  const takesValue = operator !== 'empty' && operator !== 'filled';
  return (
    <Group gap={6} align="flex-end">
      <Select
        aria-label={t`Column of condition ${number}`}
        data={[...columns]}
        value={condition.column}
        searchable
        allowDeselect={false}
        onChange={(name) => name !== null && onColumn(name)}
      />
      <Select
        aria-label={t`Comparison of condition ${number}`}
        data={operators}
        value={operator}
        allowDeselect={false}
        onChange={(next) => onChange({ ...condition, operator: (next ?? 'eq') as Operator })}
      />
      {takesValue && (
        <TextInput
          aria-label={t`Value of condition ${number}`}
          value={value}
          placeholder={operator === 'days' ? t`Days` : holds === 'moment' ? '2026-01-31' : t`Value`}
          error={value !== '' && !isComplete(condition) && t`This is not a number.`}
          onChange={({ currentTarget }) => onChange({ ...condition, value: currentTarget.value })}
        />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t`Remove condition ${number}`}
        onClick={onRemove}
      >
        <X size={14} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
