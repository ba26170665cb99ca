/** Settings of the flow itself: what it is called and for, what it asks for, and what it may spend. */
import { t } from '@lingui/core/macro';
import {
  ActionIcon,
  Button,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { removeValue, setValue, valueAt } from '@/flows/document';
import {
  addInput,
  changeInput,
  type FlowInput,
  type InputKind,
  inputsOf,
  isFreeName,
  removeInput,
  requireInput,
} from '@/flows/flow-inputs';
import classes from './flows.module.css';
import type { Studio } from './use-studio';

interface Props {
  studio: Studio;
  /** A new flow has its name above the canvas, where its id comes from it. */
  isNew: boolean;
  readOnly: boolean;
}

const KINDS: { value: InputKind; label: string }[] = [
  { value: 'text', label: t`Text` },
  { value: 'number', label: t`Number` },
  { value: 'whole', label: t`Whole number` },
  { value: 'switch', label: t`Yes or no` },
  { value: 'date', label: t`Date` },
  { value: 'choice', label: t`One of some words` },
  { value: 'list', label: t`Several words` },
];
const LIMITS = [
  { name: 'usd', label: t`Dollars` },
  { name: 'tokens', label: t`Model tokens` },
  { name: 'seconds', label: t`Seconds` },
];
const MOST_TAGS = 10;

export function FlowSettings({ studio, isNew, readOnly }: Props) {
  const text = (name: string) => {
    const value = valueAt(studio.document, [name]);
    return typeof value === 'string' ? value : '';
  };
  const set = (path: readonly string[], value: unknown) =>
    studio.change(
      {
        text:
          value === undefined ? removeValue(studio.text, path) : setValue(studio.text, path, value),
      },
      `flow:${path.join('/')}`,
    );
  const tags = valueAt(studio.document, ['tags']);
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t`Flow`}
      </Title>
      <Text size="xs" c="dimmed">
        {t`Choose a step to see its settings. These are the settings of the whole flow.`}
      </Text>
      {!isNew && (
        <TextInput
          label={t`Name`}
          maxLength={100}
          value={text('name')}
          readOnly={readOnly}
          onChange={({ currentTarget }) => set(['name'], currentTarget.value || undefined)}
        />
      )}
      <Textarea
        label={t`Goal`}
        description={t`What it is for, in a sentence or two.`}
        autosize
        minRows={2}
        maxRows={6}
        value={text('goal')}
        readOnly={readOnly}
        onChange={({ currentTarget }) => set(['goal'], currentTarget.value || undefined)}
      />
      <TextInput
        label={t`Folder`}
        placeholder={t`Finance/Monthly`}
        maxLength={200}
        value={text('folder')}
        readOnly={readOnly}
        onChange={({ currentTarget }) => set(['folder'], currentTarget.value || undefined)}
      />
      <TagsInput
        label={t`Tags`}
        description={t`Costs are added up by tag, such as a team.`}
        placeholder={t`Type and press Enter`}
        maxTags={MOST_TAGS}
        maxLength={40}
        value={Array.isArray(tags) ? tags.map(String) : []}
        readOnly={readOnly}
        onChange={(next) => set(['tags'], next.length === 0 ? undefined : next)}
      />
      <fieldset className={classes.part} disabled={readOnly}>
        <legend>{t`Most that one run may use`}</legend>
        <Group gap="xs" grow>
          {LIMITS.map(({ name, label }) => (
            <NumberInput
              key={name}
              label={label}
              min={0}
              hideControls
              value={numberAt(studio.document, name)}
              onChange={(value) => set(['budget', name], value === '' ? undefined : Number(value))}
            />
          ))}
        </Group>
      </fieldset>
      <Inputs studio={studio} readOnly={readOnly} />
    </Stack>
  );
}

function numberAt(document: unknown, name: string): number | '' {
  const value = valueAt(document, ['budget', name]);
  return typeof value === 'number' ? value : '';
}

function Inputs({ studio, readOnly }: Pick<Props, 'studio' | 'readOnly'>) {
  const [name, setName] = useState('');
  const inputs = inputsOf(studio.document);
  const isFree = isFreeName(name, inputs);
  const add = () => {
    if (!isFree) return;
    studio.change({ text: addInput(studio.text, studio.document, name) });
    setName('');
  };
  return (
    <fieldset className={classes.part} disabled={readOnly}>
      <legend>{t`What it asks for at the start`}</legend>
      <Stack gap="sm">
        {inputs.map((input) => (
          <InputRow key={input.name} input={input} studio={studio} />
        ))}
        {!readOnly && (
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              style={{ flex: 1 }}
              label={t`New input`}
              placeholder={t`customer`}
              description={t`Steps use it as \$${'{'}inputs.customer${'}'}.`}
              maxLength={60}
              value={name}
              error={
                name !== '' &&
                !isFree &&
                t`Use letters, digits and _, and a name that is not taken.`
              }
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              onKeyDown={({ key }) => key === 'Enter' && add()}
            />
            <Button
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              disabled={!isFree}
              onClick={add}
            >
              {t`Add`}
            </Button>
          </Group>
        )}
      </Stack>
    </fieldset>
  );
}

function InputRow({ input, studio }: { input: FlowInput; studio: Studio }) {
  const { name, kind, title, required, choices } = input;
  const change = (next: Partial<FlowInput>, gesture?: string) =>
    studio.change({ text: changeInput(studio.text, input, { ...input, ...next }) }, gesture);
  return (
    <div role="group" aria-label={t`Input ${name}`} className={classes.input ?? ''}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" ff="monospace">
          {name}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Remove the input ${name}`}
          onClick={() => studio.change({ text: removeInput(studio.text, studio.document, name) })}
        >
          <Trash2 size={14} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="xs" grow>
        <TextInput
          size="xs"
          label={t`Label`}
          placeholder={name}
          maxLength={100}
          value={title}
          onChange={({ currentTarget }) =>
            change({ title: currentTarget.value }, `input:${name}/title`)
          }
        />
        <Select
          size="xs"
          label={t`Kind`}
          data={KINDS}
          value={kind}
          placeholder={t`See YAML`}
          allowDeselect={false}
          onChange={(value) => value !== null && change({ kind: value })}
        />
      </Group>
      {kind === 'choice' && (
        <TagsInput
          size="xs"
          label={t`Words`}
          placeholder={t`Type and press Enter`}
          value={[...choices]}
          onChange={(next) => change({ choices: next })}
        />
      )}
      <Switch
        size="xs"
        label={t`Must be given`}
        checked={required}
        onChange={({ currentTarget }) =>
          studio.change({
            text: requireInput(studio.text, studio.document, name, currentTarget.checked),
          })
        }
      />
    </div>
  );
}
