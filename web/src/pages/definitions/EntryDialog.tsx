/** Edits an entry or makes a new one; tells what uses it before it changes. */
import { t } from '@lingui/core/macro';
import { Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type GetInputPropsReturnType, useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { definitionUsesQuery, useDefinitionAction } from '@/api/definitions';
import { fieldMessages } from '@/api/errors';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';
import { type EntryKind, pointerOf, type ShownEntry } from './entries';
import { type EntryField, FIELDS, fromForm, toForm } from './fields';

/** The entry that is edited, or the kind and table of a new one. */
export type Edited =
  | { entry: ShownEntry }
  | { kind: 'metric' | 'relationship' }
  | { kind: 'segment' | 'default filter'; table: string };

interface Props {
  edited: Edited | null;
  revision: number;
  /** Whether another change is on its way: what is saved must follow it. */
  isChanging: boolean;
  tables: string[];
  onClose: () => void;
}

export function EntryDialog({ edited, onClose, ...rest }: Props) {
  return (
    <Modal opened={edited !== null} onClose={onClose} title={edited && titleOf(edited)}>
      {edited && <EntryForm edited={edited} onClose={onClose} {...rest} />}
    </Modal>
  );
}

function titleOf(edited: Edited): string {
  if ('entry' in edited) return t`Edit ${edited.entry.name}`;
  if (edited.kind === 'segment') return t`Name some rows of ${edited.table}`;
  if (edited.kind === 'default filter') return t`Default filter of ${edited.table}`;
  return t`New ${edited.kind}`;
}

/** Names are part of the pointer; the others follow from what the entry says. */
const NAMED: ReadonlySet<EntryKind> = new Set(['metric', 'segment']);

function placeOf(edited: Edited, name: string): string {
  if ('entry' in edited) return edited.entry.pointer;
  switch (edited.kind) {
    case 'metric':
      return pointerOf('metrics', name);
    case 'relationship':
      return pointerOf('relationships', 'new');
    case 'segment':
      return pointerOf('tables', edited.table, 'segments', name);
    case 'default filter':
      return pointerOf('tables', edited.table, 'default_filters', 'new');
  }
}

function EntryForm({ edited, revision, isChanging, tables, onClose }: Props & { edited: Edited }) {
  const project = useProject();
  const save = useDefinitionAction(project.id);
  const kind = 'entry' in edited ? edited.entry.kind : edited.kind;
  const before = 'entry' in edited ? edited.entry.value : {};
  const asksName = !('entry' in edited) && NAMED.has(kind);
  const initial = toForm(kind, before);
  if (kind === 'metric' && initial.over === '') initial.over = tables[0] ?? '';
  const form = useForm<Record<string, string>>({
    initialValues: { ...initial, 'entry-name': '' },
    validate: (values) => ({
      ...(asksName && !values['entry-name']?.trim() ? { 'entry-name': t`Give it a name.` } : {}),
      ...Object.fromEntries(
        FIELDS[kind]
          .filter(({ name, required }) => required && !values[name]?.trim())
          .map(({ name, label }) => [name, t`${label} is missing.`]),
      ),
    }),
  });
  const submit = form.onSubmit((values) => {
    const name = values['entry-name']?.trim() ?? '';
    const change = { entry: placeOf(edited, name), value: fromForm(kind, values, before) };
    save.mutate(
      { action: { kind: 'set', changes: [change] }, revision },
      {
        onSuccess: () => {
          showDone(t`${'entry' in edited ? edited.entry.name : name || kind} saved`);
          onClose();
        },
        onError: (error) => form.setErrors(fieldMessages(error)),
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {asksName && (
          <TextInput
            label={t`Name`}
            description={kind === 'segment' ? t`Such as unpaid or active.` : t`Such as revenue.`}
            data-autofocus
            {...form.getInputProps('entry-name')}
          />
        )}
        {FIELDS[kind]
          .filter(({ when }) => !when || when(form.getValues()))
          .map((field) => (
            <OneField
              key={field.name}
              field={
                field.name === 'over'
                  ? {
                      ...field,
                      kind: 'choice',
                      choices: tables.map((name) => [name, name] as const),
                    }
                  : field
              }
              input={form.getInputProps(field.name)}
            />
          ))}
        {'entry' in edited && <Uses pointer={edited.entry.pointer} />}
        <FormError error={save.error} />
        <FormFooter submit={t`Save`} isPending={save.isPending || isChanging} onCancel={onClose} />
      </Stack>
    </form>
  );
}

interface FieldProps {
  field: EntryField;
  input: GetInputPropsReturnType;
}

function OneField({ field, input }: FieldProps) {
  const look = { label: field.label, ...(field.help ? { description: field.help } : {}) };
  if (field.kind === 'choice') {
    const data = (field.choices ?? []).map(([value, label]) => ({ value, label }));
    return <NativeSelect {...look} data={data} {...input} />;
  }
  return (
    <TextInput
      {...look}
      autoComplete="off"
      {...(field.kind === 'code' ? { ff: 'monospace', spellCheck: false } : {})}
      {...input}
    />
  );
}

const KINDS: Record<string, string> = {
  playbook: t`Playbook`,
  question: t`Confirmed question`,
  metric: t`Metric`,
  segment: t`Named rows`,
  'default filter': t`Default filter`,
  relationship: t`Relationship`,
};

function Uses({ pointer }: { pointer: string }) {
  const project = useProject();
  const { data } = useQuery(definitionUsesQuery(project.id, pointer));
  if (data === undefined) return null;
  if (data.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t`No playbook and no confirmed question uses this.`}
      </Text>
    );
  }
  return (
    <div>
      <Text size="sm" fw={500}>
        {t`Used by`}
      </Text>
      <ul style={{ margin: 0, paddingInlineStart: '1.25rem' }}>
        {data.map(({ kind, name, title }) => (
          <li key={`${kind} ${name}`}>
            <Text size="sm">
              {KINDS[kind] ?? kind}: {title}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
