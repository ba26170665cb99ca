/** Makes or changes an alert rule, with what it would have done in the past beside it. */
import { t } from '@lingui/core/macro';
import {
  ActionIcon,
  Button,
  Group,
  Modal,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import {
  alertPreviewQuery,
  type AlertRule,
  type AlertRules,
  type Channel,
  type Figure,
  type KeptRule,
  useSaveAlertRule,
} from '@/api/alerts';
import { connectionsQuery, kindsQuery } from '@/api/connections';
import { ApiError, fieldMessages } from '@/api/errors';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showToast } from '@/components/toasts';
import { showDone } from '@/components/undo';
import { FIGURES, isAboveOnly, isDrift, isInstant, unitName } from './alert-words';
import classes from './alerts.module.css';
import { PastDrawing } from './PastDrawing';

type Kind = AlertRule['condition']['kind'];
type Quiet = NonNullable<AlertRule['quiet_hours']>;

const WHOLE = 'whole project';
const EACH = 'each flow';
const WINDOWS = [1, 6, 24, 72, 168, 720];
const TYPED_FOR = 400;
const CHANNELS: { value: Channel['kind']; label: string; field: string }[] = [
  { value: 'mail', label: t`Mail`, field: t`Addresses, separated by commas` },
  { value: 'slack', label: t`Slack`, field: t`Channel (empty for a webhook)` },
  { value: 'webhook', label: t`Webhook`, field: t`Name of the endpoint` },
];

interface Draft {
  name: string;
  figure: Figure;
  about: string;
  hours: number;
  kind: Kind;
  amount: number | string;
  people: string[];
  channels: { kind: string; to: string; connection: string | null }[];
  quiet: Quiet | null;
  enabled: boolean;
}

interface Props {
  kept: KeptRule | null;
  flows: AlertRules['flows'];
  onClose: () => void;
}

export default function AlertRuleDialog({ kept, flows, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={kept === null ? t`Add an alert rule` : t`Edit alert rule`}
      size="46rem"
    >
      <RuleForm kept={kept} flows={flows} onClose={onClose} />
    </Modal>
  );
}

function RuleForm({ kept, flows, onClose }: Props) {
  const project = useProject();
  const save = useSaveAlertRule(project.id);
  const [draft, setDraft] = useState<Draft>(() => draftOf(kept?.rule ?? null));
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const rule = ruleOf(draft);
  const refused = fieldMessages(save.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (rule === null) return;
    save.mutate(
      { rule, ...(kept === null ? {} : { saved: kept }) },
      {
        onSuccess: ({ waiting_channels }) => {
          tellSaved(rule.name, waiting_channels);
          onClose();
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t`Name`}
          withAsterisk
          data-autofocus
          value={draft.name}
          error={refused.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        <WhatFields draft={draft} flows={flows} refused={refused} onChange={set} />
        <Preview rule={rule} />
        <Ways draft={draft} refused={refused} error={save.error} onChange={set} />
        <Refused error={save.error} />
        <FormFooter
          submit={kept === null ? t`Add rule` : t`Save rule`}
          isPending={save.isPending}
          isDisabled={rule === null || draft.name.trim() === ''}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

const READ_FOR = 15_000;

function tellSaved(name: string, waiting: string[]): void {
  if (waiting.length === 0) {
    showDone(t`${name} saved`);
    return;
  }
  showToast({
    tone: 'neutral',
    shownFor: READ_FOR,
    title: t`${name} saved`,
    message: t`Policy asks for an approval: each message by ${waiting.join(', ')} waits in the inbox. An admin can allow these messages on the Policy page.`,
  });
}

/** What is wrong with one channel. */
function channelMessage(error: unknown, at: number): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.filter(({ pointer }) => channelAt(pointer) === at);
  return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ');
}

function channelAt(pointer: string): number | null {
  const found = /\/channels\/(\d+)/u.exec(pointer);
  return found === null ? null : Number(found[1]);
}

interface FieldsProps {
  draft: Draft;
  refused: Record<string, string>;
  onChange: (change: Partial<Draft>) => void;
}

function WhatFields({
  draft,
  flows,
  refused,
  onChange,
}: FieldsProps & { flows: AlertRules['flows'] }) {
  const instant = isInstant(draft.figure);
  const drift = isDrift(draft.figure);
  const kinds = drift
    ? [{ value: 'unusual', label: t`is unlike earlier runs` }]
    : [
        { value: 'above', label: t`is above` },
        ...(isAboveOnly(draft.figure) ? [] : [{ value: 'below', label: t`is below` }]),
        ...(instant ? [] : [{ value: 'unusual', label: t`is unusually high` }]),
      ];
  const windows = WINDOWS.filter((hours) => draft.kind !== 'unusual' || hours <= 24);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          label={t`Figure`}
          data={FIGURES}
          value={draft.figure}
          allowDeselect={false}
          onChange={(value) =>
            value !== null &&
            onChange({
              figure: value,
              ...(isInstant(value) || drift ? { kind: 'above' } : {}),
              ...(isDrift(value) ? driftDraft(draft) : {}),
            })
          }
        />
        <Select
          label={t`Of`}
          data={[
            ...(drift ? [] : [{ value: WHOLE, label: t`The whole project` }]),
            { value: EACH, label: t`Each flow on its own` },
            ...flows.map(({ flow, title }) => ({ value: flow, label: title })),
          ]}
          value={draft.about}
          error={refused.flow}
          searchable
          allowDeselect={false}
          onChange={(value) => value !== null && onChange({ about: value })}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <Select
          label={t`Fires when it`}
          data={kinds}
          value={draft.kind}
          allowDeselect={false}
          onChange={(value) =>
            value !== null &&
            onChange({
              kind: value as Kind,
              ...(value === 'unusual' ? { hours: Math.min(draft.hours, 24) } : {}),
            })
          }
        />
        <NumberInput
          label={
            draft.kind === 'unusual'
              ? t`By at least (${unitName(draft.figure)})`
              : t`Limit (${unitName(draft.figure)})`
          }
          min={0}
          value={draft.amount}
          error={refused.threshold ?? refused.floor}
          onChange={(value) => onChange({ amount: value })}
        />
        {!instant && (
          <Select
            label={t`Within`}
            data={windows.map((hours) => ({ value: String(hours), label: hoursText(hours) }))}
            value={String(draft.hours)}
            allowDeselect={false}
            onChange={(value) => value !== null && onChange({ hours: Number(value) })}
          />
        )}
      </SimpleGrid>
      {drift && (
        <Text size="sm" c="dimmed">
          {t`Compares each output with those of earlier runs: rows, numbers, shares of empty values, and columns that appear or vanish. This needs 14 days of history and 10 runs.`}
        </Text>
      )}
      {draft.kind === 'unusual' && !drift && (
        <Text size="sm" c="dimmed">
          {t`Unusually high: more than three standard deviations above the mean of the last 28 days, and at least this much above it.`}
        </Text>
      )}
    </>
  );
}

function Preview({ rule }: { rule: AlertRule | null }) {
  const project = useProject();
  // Only what decides about firing is asked about, so that typing a name asks nothing.
  const asked = rule && { ...rule, name: t`Preview`, people: [], channels: [], quiet_hours: null };
  const [settled] = useDebouncedValue(asked === null ? null : JSON.stringify(asked), TYPED_FOR);
  const query = useQuery(
    alertPreviewQuery(project.id, settled === null ? null : (JSON.parse(settled) as AlertRule)),
  );
  if (rule === null)
    return (
      <Text size="sm" c="dimmed">
        {t`Enter a limit to see how often the rule would have fired.`}
      </Text>
    );
  if (query.isError) return <Refused error={query.error} />;
  if (!query.data)
    return (
      <Text size="sm" c="dimmed">
        {t`Checking the last 28 days…`}
      </Text>
    );
  return (
    <PastDrawing
      past={query.data}
      figure={rule.figure}
      isUnusual={rule.condition.kind === 'unusual'}
    />
  );
}

const SHOWN_AT_FIELDS = new Set(['name', 'flow', 'threshold', 'floor']);

/** What no field of the form shows by itself. */
function Refused({ error }: { error: unknown }) {
  if (error instanceof ApiError && error.fields.some(({ pointer }) => channelAt(pointer) !== null))
    return null;
  const others = Object.entries(fieldMessages(error))
    .filter(([field]) => !SHOWN_AT_FIELDS.has(field))
    .map(([, message]) => message.replace(/^Value error, /, ''));
  if (others.length === 0) return <FormError error={error} />;
  return (
    <Text size="sm" c="red" role="alert">
      {others.map((message) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`).join(' ')}
    </Text>
  );
}

function Ways({ draft, refused, error, onChange }: FieldsProps & { error: unknown }) {
  const project = useProject();
  const members = itemsOf(useInfiniteQuery(membersQuery(project.id)).data);
  const change = (at: number, next: Partial<Draft['channels'][number]>) =>
    onChange({
      channels: draft.channels.map((each, index) => (index === at ? { ...each, ...next } : each)),
    });
  return (
    <>
      <MultiSelect
        label={t`Also notify in Steward`}
        description={t`You are always notified. Others only about playbooks that they may see.`}
        data={members.map(({ user_id, name }) => ({ value: user_id, label: name }))}
        value={draft.people}
        error={refused.people}
        searchable
        onChange={(people) => onChange({ people })}
      />
      {draft.channels.map((channel, at) => {
        const known = CHANNELS.find(({ value }) => value === channel.kind);
        return (
          // Channels have no identity of their own while they are typed.
          <div key={at} className={classes.channel}>
            <Select
              label={t`Also send by`}
              data={CHANNELS.map(({ value, label }) => ({ value, label }))}
              value={channel.kind}
              allowDeselect={false}
              onChange={(kind) => kind !== null && change(at, { kind, connection: null })}
            />
            <TextInput
              label={known?.field}
              value={channel.to}
              error={channelMessage(error, at)}
              onChange={({ currentTarget }) => change(at, { to: currentTarget.value })}
            />
            {channel.kind !== 'webhook' && (
              <ConnectionField
                use={channel.kind}
                value={channel.connection}
                onChange={(connection) => change(at, { connection })}
              />
            )}
            <ActionIcon
              variant="default"
              size="lg"
              aria-label={t`Remove ${known?.label ?? t`channel`}`}
              onClick={() =>
                onChange({ channels: draft.channels.filter((_, index) => index !== at) })
              }
            >
              <X size={16} aria-hidden />
            </ActionIcon>
          </div>
        );
      })}
      <Group gap="sm" justify="space-between">
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          disabled={draft.channels.length >= 5}
          onClick={() =>
            onChange({ channels: [...draft.channels, { kind: 'mail', to: '', connection: null }] })
          }
        >
          {t`Send by mail, Slack or webhook`}
        </Button>
        <Switch
          label={t`Quiet hours`}
          checked={draft.quiet !== null}
          onChange={({ currentTarget }) =>
            onChange({
              quiet: currentTarget.checked
                ? { start: '22:00', end: '07:00', time_zone: ownZone() }
                : null,
            })
          }
        />
      </Group>
      {draft.channels.length > 0 && (
        <Text size="sm" c="dimmed">
          {t`Messages are sent in your name. Where policy asks for an approval, they wait in the inbox.`}
        </Text>
      )}
      {draft.quiet !== null && <QuietFields quiet={draft.quiet} onChange={onChange} />}
    </>
  );
}

interface ConnectionFieldProps {
  use: string;
  value: string | null;
  onChange: (name: string | null) => void;
}

/** By which connection a message leaves; none: by the settings of the tool. */
function ConnectionField({ use, value, onChange }: ConnectionFieldProps) {
  const project = useProject();
  const kinds = useQuery(kindsQuery(project.id)).data ?? [];
  const fitting = new Set(kinds.filter((each) => each.use === use).map(({ kind }) => kind));
  const names = itemsOf(useInfiniteQuery(connectionsQuery(project.id)).data)
    .filter(({ kind }) => fitting.has(kind))
    .map(({ name }) => name);
  // What a rule names stays choosable while connections load, and after one was deleted.
  const data = value === null || names.includes(value) ? names : [value, ...names];
  return (
    <Select
      label={t`Connection`}
      placeholder={t`Settings of the tool`}
      data={data}
      value={value}
      clearable
      onChange={onChange}
    />
  );
}

function QuietFields({
  quiet,
  onChange,
}: {
  quiet: Quiet;
  onChange: (change: Partial<Draft>) => void;
}) {
  const set = (change: Partial<Quiet>) => onChange({ quiet: { ...quiet, ...change } });
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
      <TextInput
        label={t`Quiet from`}
        type="time"
        value={quiet.start.slice(0, 5)}
        onChange={({ currentTarget }) => set({ start: currentTarget.value })}
      />
      <TextInput
        label={t`Quiet until`}
        type="time"
        value={quiet.end.slice(0, 5)}
        onChange={({ currentTarget }) => set({ end: currentTarget.value })}
      />
      <Select
        label={t`Time zone`}
        data={['UTC', ...Intl.supportedValuesOf('timeZone')]}
        value={quiet.time_zone ?? 'UTC'}
        searchable
        limit={60}
        allowDeselect={false}
        onChange={(value) => value !== null && set({ time_zone: value })}
      />
    </SimpleGrid>
  );
}

/** A rule about outputs begins with each flow and a fifth of the usual number. */
function driftDraft(draft: Draft): Partial<Draft> {
  return { kind: 'unusual', about: draft.about === WHOLE ? EACH : draft.about, amount: 20 };
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function hoursText(hours: number): string {
  if (hours === 1) return t`1 hour`;
  return hours % 24 === 0 && hours > 24 ? t`${hours / 24} days` : t`${hours} hours`;
}

function draftOf(rule: AlertRule | null): Draft {
  if (rule === null)
    return {
      name: '',
      figure: 'failed_runs',
      about: WHOLE,
      hours: 24,
      kind: 'above',
      amount: 0,
      people: [],
      channels: [],
      quiet: null,
      enabled: true,
    };
  const { condition } = rule;
  return {
    name: rule.name,
    figure: rule.figure,
    about: rule.each_flow ? EACH : (rule.flow ?? WHOLE),
    hours: rule.window_hours ?? 24,
    kind: condition.kind,
    amount: 'floor' in condition ? condition.floor : condition.threshold,
    people: rule.people ?? [],
    channels: (rule.channels ?? []).map(channelDraft),
    quiet: rule.quiet_hours ?? null,
    enabled: rule.enabled ?? true,
  };
}

function channelDraft(channel: Channel): Draft['channels'][number] {
  const kind = channel.kind;
  if ('to' in channel)
    return { kind, to: channel.to.join(', '), connection: channel.connection ?? null };
  if ('endpoint' in channel) return { kind, to: channel.endpoint, connection: null };
  return { kind, to: channel.channel ?? '', connection: channel.connection ?? null };
}

function channelOf({ kind, to, connection }: Draft['channels'][number]): Channel {
  const text = to.trim();
  if (kind === 'webhook') return { kind, endpoint: text };
  if (kind === 'slack') return { kind, channel: text === '' ? null : text, connection };
  const addresses = text
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean);
  return { kind: 'mail', to: addresses, connection };
}

/** Null while there is no limit. */
function ruleOf(draft: Draft): AlertRule | null {
  const amount = typeof draft.amount === 'number' ? draft.amount : Number.NaN;
  const isTooSmall = draft.kind === 'above' ? amount < 0 : amount <= 0;
  if (Number.isNaN(amount) || isTooSmall) return null;
  return {
    name: draft.name.trim(),
    figure: draft.figure,
    flow: draft.about === WHOLE || draft.about === EACH ? null : draft.about,
    each_flow: draft.about === EACH,
    window_hours: draft.hours,
    condition:
      draft.kind === 'unusual'
        ? { kind: 'unusual', floor: amount }
        : { kind: draft.kind, threshold: amount },
    enabled: draft.enabled,
    people: draft.people,
    channels: draft.channels.map(channelOf),
    quiet_hours: draft.quiet,
  };
}
