/** Begins an agent: empty or as a copy of one that exists; the rest is composed on its page. */
import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type AgentDocument, agentQuery, agentsQuery, useSaveAgent } from '@/api/agents';
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
    <Modal opened={opened} onClose={onClose} title="Compose an agent" size="lg">
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
        label="Start from"
        data={agents.map(({ name, title }) => ({ value: name, label: title }))}
        value={chosen}
        placeholder="Empty"
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
  const form = useForm({
    initialValues: {
      name: start === null ? '' : `my-${start.name}`.slice(0, 60),
      title: start === null ? '' : `My ${start.title.toLowerCase()}`,
      description: start?.description ?? '',
      instructions: start?.instructions ?? '',
    },
    validate: {
      name: (name) =>
        NAME.test(name) ? null : 'Small letters, digits and hyphens, such as invoice-reader.',
      title: (text) => (text.trim() === '' ? 'Give it a title.' : null),
      description: (text) => (text.trim() === '' ? 'Say when to choose it.' : null),
      instructions: (text) => (text.trim() === '' ? 'Say what it should do.' : null),
    },
  });
  const submit = form.onSubmit((given) =>
    save.mutate(
      {
        document: { ...copied(start), ...given },
        message: start === null ? 'Composed' : `Started from ${start.name}`,
        version: 0,
      },
      { onSuccess: () => void navigate({ to: `/p/${project.id}/agents/${given.name}` }) },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="Flows call it by this name."
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <TextInput label="Title" {...form.getInputProps('title')} />
        <TextInput
          label="When to choose it"
          maxLength={500}
          {...form.getInputProps('description')}
        />
        <Textarea
          label="Instructions"
          description="What it should do, and how."
          autosize
          minRows={4}
          maxRows={14}
          {...form.getInputProps('instructions')}
        />
        <FormError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Begin
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** An agent of the chat names tools by patterns; a composed one names each, and at most eight. */
function copied(start: AgentDocument | null): Partial<AgentDocument> {
  if (start === null) return {};
  const tools = (start.tools ?? []).filter((name) => !name.includes('*')).slice(0, MOST_TOOLS);
  return { ...start, tools };
}
