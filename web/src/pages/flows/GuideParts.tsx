/** The later questions of a guided flow: what to make and who gets it. */
import { t } from '@lingui/core/macro';
import {
  Group,
  MultiSelect,
  Radio,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { connectionsQuery } from '@/api/connections';
import { itemsOf } from '@/api/lists';
import { useProject } from '@/app/project';
import { isNumeric } from '@/components/column-types';
import type { Aggregate, Delivery, Making, Summary } from '@/flows/guide';
import { type ChartRequest, isComplete } from '../dataset/charts/chart-request';
import { ChartFields } from '@/pages/dataset/charts/ChartFields';

interface Column {
  name: string;
  type: string;
}

const MADE: { value: Making['kind']; label: string; description: string }[] = [
  { value: 'rows', label: t`Rows`, description: t`Shown in the run.` },
  {
    value: 'dataset',
    label: t`A dataset`,
    description: t`Kept in the project under its own name.`,
  },
  { value: 'chart', label: t`A chart`, description: t`Drawn from the data.` },
  { value: 'report', label: t`A report`, description: t`HTML and PDF in the project’s files.` },
  {
    value: 'workbook',
    label: t`A workbook`,
    description: t`An Excel file in the project’s files.`,
  },
];

interface MakeProps {
  make: Making;
  /** What charts can draw; without columns no chart is offered. */
  columns: readonly Column[];
  /** Kinds that make no sense here. */
  without?: readonly Making['kind'][];
  onChange: (make: Making) => void;
}

export function MakeFields({ make, columns, without = [], onChange }: MakeProps) {
  const choose = (kind: string) =>
    onChange(
      kind === 'chart'
        ? { kind, chart: { kind: 'bar', x: columns[0]?.name ?? null } }
        : { kind: kind as Exclude<Making['kind'], 'chart'> },
    );
  return (
    <Stack gap="sm">
      <Radio.Group label={t`Make`} value={make.kind} onChange={choose}>
        <Stack gap="xs" mt={4}>
          {MADE.filter(
            ({ value }) => !without.includes(value) && (value !== 'chart' || columns.length > 0),
          ).map((choice) => (
            <Radio key={choice.value} {...choice} />
          ))}
        </Stack>
      </Radio.Group>
      {make.kind === 'chart' && (
        <Group gap="sm" align="flex-start">
          <ChartFields
            chart={make.chart as ChartRequest}
            columns={columns}
            onChange={(chart) => onChange({ kind: 'chart', chart })}
          />
        </Group>
      )}
    </Stack>
  );
}

export function makeProblem(make: Making): string | null {
  const isOpen = make.kind === 'chart' && !isComplete(make.chart as ChartRequest);
  return isOpen ? t`Choose the columns of the chart.` : null;
}

const MEASURES: { value: Aggregate; label: string }[] = [
  { value: 'count', label: t`Count the rows` },
  { value: 'sum', label: t`Add up` },
  { value: 'avg', label: t`Average of` },
  { value: 'min', label: t`Smallest` },
  { value: 'max', label: t`Largest` },
];

interface SummaryProps {
  summary: Summary | null;
  columns: readonly Column[];
  onChange: (summary: Summary | null) => void;
}

export function SummaryFields({ summary, columns, onChange }: SummaryProps) {
  const numbers = columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name);
  return (
    <Stack gap="sm">
      <Switch
        label={t`Summarise the rows`}
        description={t`One row for each group, counted or added up.`}
        checked={summary !== null}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.checked ? { by: [], aggregate: 'count', column: null } : null)
        }
      />
      {summary && (
        <Group gap="sm" align="flex-start">
          <Select
            label={t`Measure`}
            data={MEASURES.filter(({ value }) => value === 'count' || numbers.length > 0)}
            value={summary.aggregate}
            allowDeselect={false}
            onChange={(value) => {
              const aggregate = value ?? 'count';
              const column = aggregate === 'count' ? null : (summary.column ?? numbers[0] ?? null);
              onChange({ ...summary, aggregate, column });
            }}
          />
          {summary.aggregate !== 'count' && (
            <Select
              label={t`Of the column`}
              data={numbers}
              value={summary.column}
              allowDeselect={false}
              searchable
              onChange={(column) => onChange({ ...summary, column })}
            />
          )}
          <MultiSelect
            label={t`For each`}
            data={columns.map(({ name }) => name)}
            value={[...summary.by]}
            searchable
            miw="14rem"
            placeholder={summary.by.length === 0 ? t`All rows together` : ''}
            onChange={(by) => onChange({ ...summary, by })}
          />
        </Group>
      )}
    </Stack>
  );
}

const SENT = [
  { value: 'none', label: t`No one: it stays in the project` },
  { value: 'email', label: t`People, by e-mail` },
  { value: 'slack', label: t`A Slack channel` },
];
const THROUGH: Record<string, readonly string[]> = {
  email: ['smtp'],
  slack: ['slack', 'slack_webhook'],
};

interface DeliveryProps {
  delivery: Delivery;
  onChange: (delivery: Delivery) => void;
}

export function DeliveryFields({ delivery, onChange }: DeliveryProps) {
  const project = useProject();
  const connections = itemsOf(useInfiniteQuery(connectionsQuery(project.id)).data);
  const usable = connections.filter(({ kind }) => THROUGH[delivery.kind]?.includes(kind));
  return (
    <Stack gap="sm">
      <Radio.Group
        label={t`Who gets it`}
        value={delivery.kind}
        onChange={(kind) => onChange({ ...delivery, kind, connection: null })}
      >
        <Stack gap="xs" mt={4}>
          {SENT.map((choice) => (
            <Radio key={choice.value} {...choice} />
          ))}
        </Stack>
      </Radio.Group>
      {delivery.kind === 'email' && (
        <TagsInput
          label={t`E-mail addresses`}
          withAsterisk
          maw="28rem"
          placeholder={t`Type and press Enter`}
          value={[...delivery.to]}
          acceptValueOnBlur
          onChange={(to) => onChange({ ...delivery, to })}
        />
      )}
      {delivery.kind === 'slack' && (
        <TextInput
          label={t`Channel`}
          description={t`Leave it empty for a webhook, which has a channel of its own.`}
          maw="28rem"
          value={delivery.channel}
          onChange={({ currentTarget }) => onChange({ ...delivery, channel: currentTarget.value })}
        />
      )}
      {usable.length > 0 && (
        <Select
          label={t`Connection`}
          maw="28rem"
          data={usable.map(({ name }) => name)}
          value={delivery.connection}
          placeholder={t`As the project’s settings say`}
          clearable
          onChange={(connection) => onChange({ ...delivery, connection })}
        />
      )}
      {delivery.kind !== 'none' && (
        <Switch
          label={t`Ask me before it is sent`}
          checked={delivery.isReviewed}
          onChange={({ currentTarget }) =>
            onChange({ ...delivery, isReviewed: currentTarget.checked })
          }
        />
      )}
    </Stack>
  );
}

export function deliveryProblem({ kind, to }: Delivery): string | null {
  if (kind !== 'email') return null;
  if (to.length === 0) return t`Enter who gets the e-mail.`;
  const wrong = to.find((address) => !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(address));
  return wrong === undefined ? null : t`“${wrong}” is not an e-mail address.`;
}
