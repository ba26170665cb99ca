/** Settings of the flow itself: what it is called and for, what it asks for, and what it may spend. */
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
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'whole', label: 'Whole number' },
  { value: 'switch', label: 'Yes or no' },
  { value: 'date', label: 'Date' },
  { value: 'choice', label: 'One of some words' },
  { value: 'list', label: 'Several words' },
];
const LIMITS = [
  { name: 'usd', label: 'Dollars' },
  { name: 'tokens', label: 'Model tokens' },
  { name: 'seconds', label: 'Seconds' },
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
        Flow
      </Title>
      <Text size="xs" c="dimmed">
        Choose a step to see its settings. These are the settings of the whole flow.
      </Text>
      {!isNew && (
        <TextInput
          label="Name"
          maxLength={100}
          value={text('name')}
          readOnly={readOnly}
          onChange={({ currentTarget }) => set(['name'], currentTarget.value || undefined)}
        />
      )}
      <Textarea
        label="Goal"
        description="What it is for, in a sentence or two."
        autosize
        minRows={2}
        maxRows={6}
        value={text('goal')}
        readOnly={readOnly}
        onChange={({ currentTarget }) => set(['goal'], currentTarget.value || undefined)}
      />
      <TextInput
        label="Folder"
        placeholder="Finance/Monthly"
        maxLength={200}
        value={text('folder')}
        readOnly={readOnly}
        onChange={({ currentTarget }) => set(['folder'], currentTarget.value || undefined)}
      />
      <TagsInput
        label="Tags"
        description="Costs are added up by tag, such as a team."
        placeholder="Type and press Enter"
        maxTags={MOST_TAGS}
        maxLength={40}
        value={Array.isArray(tags) ? tags.map(String) : []}
        readOnly={readOnly}
        onChange={(next) => set(['tags'], next.length === 0 ? undefined : next)}
      />
      <fieldset className={classes.part} disabled={readOnly}>
        <legend>Most that one run may use</legend>
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
      <legend>What it asks for at the start</legend>
      <Stack gap="sm">
        {inputs.map((input) => (
          <InputRow key={input.name} input={input} studio={studio} />
        ))}
        {!readOnly && (
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              style={{ flex: 1 }}
              label="New input"
              placeholder="customer"
              description="Steps use it as ${inputs.customer}."
              maxLength={60}
              value={name}
              error={
                name !== '' && !isFree && 'Use letters, digits and _, and a name that is not taken.'
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
              Add
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
    <div role="group" aria-label={`Input ${name}`} className={classes.input ?? ''}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" ff="monospace">
          {name}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove the input ${name}`}
          onClick={() => studio.change({ text: removeInput(studio.text, studio.document, name) })}
        >
          <Trash2 size={14} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="xs" grow>
        <TextInput
          size="xs"
          label="Label"
          placeholder={name}
          maxLength={100}
          value={title}
          onChange={({ currentTarget }) =>
            change({ title: currentTarget.value }, `input:${name}/title`)
          }
        />
        <Select
          size="xs"
          label="Kind"
          data={KINDS}
          value={kind}
          placeholder="See YAML"
          allowDeselect={false}
          onChange={(value) => value !== null && change({ kind: value })}
        />
      </Group>
      {kind === 'choice' && (
        <TagsInput
          size="xs"
          label="Words"
          placeholder="Type and press Enter"
          value={[...choices]}
          onChange={(next) => change({ choices: next })}
        />
      )}
      <Switch
        size="xs"
        label="Must be given"
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
