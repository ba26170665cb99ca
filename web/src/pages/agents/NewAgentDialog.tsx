/** Begins an agent: empty or as a copy of one that exists; the rest is composed on its page. */
import { t } from '@lingui/core/macro';
import {
  Button,
  Group,
  Modal,
  MultiSelect,
  Select,
  Stack,
  TextInput,
  Textarea,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type AgentDocument, agentQuery, agentsQuery, useSaveAgent } from '@/api/agents';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { LoadingLines } from '@/components/LoadingLines';

const NAME = /^[a-z][a-z0-9-]{0,59}$/;
const MOST_TOOLS = 8;

interface Props {
  opened: boolean;
  /** The agent to start from; null: an empty one. */
  from: string | null;
  onClose: () => void;
}

export function NewAgentDialog({ opened, from, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Compose an agent`} size="lg">
      <Begin key={from} from={from} onClose={onClose} />
    </Modal>
  );
}

function Begin({ from, onClose }: Omit<Props, 'opened'>) {
  const project = useProject();
  const [chosen, setChosen] = useState(from);
  const agents = useQuery(agentsQuery(project.id)).data ?? [];
  const query = useQuery({
    ...agentQuery(project.id, chosen ?? ''),
    enabled: chosen !== null,
  });
  return (
    <Stack>
      <Select
        label={t`Start from`}
        data={agents.map(({ name, title }) => ({ value: name, label: title }))}
        value={chosen}
        placeholder={t`Empty`}
        clearable
        searchable
        onChange={setChosen}
      />
      {chosen !== null && query.isError && <ErrorState error={query.error} />}
      {chosen !== null && query.isPending && <LoadingLines />}
      {(chosen === null || query.data) && (
        <BeginForm
          key={chosen}
          start={chosen === null ? null : (query.data?.document as unknown as AgentDocument)}
          onClose={onClose}
        />
      )}
    </Stack>
  );
}

function BeginForm({ start, onClose }: { start: AgentDocument | null; onClose: () => void }) {
  const project = useProject();
  const navigate = useNavigate();
  const save = useSaveAgent(project.id);
  const offered = namedTools(start);
  const form = useForm({
    initialValues: {
      tools: offered.slice(0, MOST_TOOLS),
      name: start === null ? '' : `my-${start.name}`.slice(0, 60),
      title: start === null ? '' : t`My ${asWithin(start.title)}`,
      description: start?.description ?? '',
      instructions: start?.instructions ?? '',
    },
    validate: {
      name: (name) =>
        NAME.test(name) ? null : t`Small letters, digits and hyphens, such as invoice-reader.`,
      title: (text) => (text.trim() === '' ? t`Give it a title.` : null),
      description: (text) => (text.trim() === '' ? t`Say when to choose it.` : null),
      instructions: (text) => (text.trim() === '' ? t`Say what it should do.` : null),
    },
  });
  const submit = form.onSubmit((given) =>
    save.mutate(
      {
        document: { ...start, ...given },
        message: start === null ? t`Composed` : t`Started from ${start.name}`,
        version: 0,
      },
      { onSuccess: () => void navigate({ to: `/p/${project.id}/agents/${given.name}` }) },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`Name`}
          description={t`Flows call it by this name.`}
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <TextInput label={t`Title`} {...form.getInputProps('title')} />
        <TextInput
          label={t`When to choose it`}
          maxLength={500}
          {...form.getInputProps('description')}
        />
        <Textarea
          label={t`Instructions`}
          description={t`What it should do, and how.`}
          autosize
          minRows={4}
          maxRows={14}
          {...form.getInputProps('instructions')}
        />
        {start !== null && offered.length > MOST_TOOLS && (
          <ToolChoice
            title={start.title}
            offered={offered}
            value={form.values.tools}
            onChange={(tools) => form.setFieldValue('tools', tools)}
          />
        )}
        <FormError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t`Cancel`}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t`Begin`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A title as it is written within a sentence: “Summariser” gets a small letter, “SQL analyst” keeps its capitals. */
const asWithin = (title: string) =>
  /^\p{Lu}\p{Lu}/u.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);

/** An agent of the chat names tools by patterns; a composed one names each. */
const namedTools = (start: AgentDocument | null) =>
  (start?.tools ?? []).filter((name) => !name.includes('*'));

interface ChoiceProps {
  title: string;
  offered: readonly string[];
  value: string[];
  onChange: (value: string[]) => void;
}

/** Which tools a copy keeps, where it cannot have them all. */
function ToolChoice({ title, offered, value, onChange }: ChoiceProps) {
  const project = useProject();
  const tools = useQuery(toolsQuery(project.id)).data ?? [];
  const titleOf = (name: string) => tools.find((tool) => tool.name === name)?.title ?? name;
  return (
    <MultiSelect
      label={t`Tools`}
      description={t`${title} has ${offered.length} tools, and an agent of your own at most ${MOST_TOOLS}. Choose those it needs.`}
      data={offered.map((name) => ({ value: name, label: titleOf(name) }))}
      value={value}
      maxValues={MOST_TOOLS}
      searchable
      onChange={onChange}
    />
  );
}
