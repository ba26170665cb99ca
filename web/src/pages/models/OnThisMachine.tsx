/** Models of this machine: those that Ollama has, and open weights that Steward fetches and runs itself. */
import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  localModelsQuery,
  type ModelSetup,
  type NewModel,
  usePullModel,
  useSetUpModel,
  type Weights,
} from '@/api/models';
import { useProject } from '@/app/project';
import { RunLink } from '@/components/RunLink';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { labelFor } from './draft';

const GIGABYTE = 1_000_000_000;
const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;

export function OnThisMachine({ setup }: { setup: ModelSetup }) {
  const project = useProject();
  const { data } = useQuery(localModelsQuery(project.id));
  const use = useSetUpModel(project.id);
  if (!data) return null;
  const add = (provider: NewModel['provider'], name: string) => {
    const label = labelFor({ provider, name });
    const model: NewModel = {
      provider,
      name,
      api: 'chat',
      allow_rows: true,
      stream: true,
      planning: 'auto',
      timeout_seconds: 900,
    };
    use.mutate(
      { level: setup.level, revision: setup.revision, label, model },
      { onSuccess: () => showDone(`${label} is set up`), onError: showFailure },
    );
  };
  const known = new Set(setup.models.map(({ provider, name }) => `${provider}:${name}`));
  const engine = data.engine ?? 'nothing here can run weights: install llama.cpp or Ollama';
  return (
    <Section
      title="On this machine"
      description={`Nothing leaves this machine. Weights are run by: ${engine}.`}
    >
      <Stack>
        {data.ollama_models.map((name) => (
          <Paper key={name} withBorder p="sm" role="group" aria-label={`Ollama ${name}`}>
            <Group justify="space-between">
              <Text size="sm">Ollama has {name}</Text>
              <Button
                size="compact-sm"
                disabled={known.has(`ollama:${name}`)}
                onClick={() => add('ollama', name)}
              >
                Use {name}
              </Button>
            </Group>
          </Paper>
        ))}
        {data.weights.map((weights) => (
          <OneFile
            key={weights.name}
            weights={weights}
            isUsed={known.has(`local:${weights.name}`)}
            onUse={() => add('local', weights.name)}
          />
        ))}
      </Stack>
    </Section>
  );
}

interface FileProps {
  weights: Weights;
  isUsed: boolean;
  onUse: () => void;
}

function OneFile({ weights, isUsed, onUse }: FileProps) {
  const project = useProject();
  const pull = usePullModel(project.id);
  const [url, setUrl] = useState('');
  const [sha256, setSha256] = useState('');
  const { name, title, licence, bytes, memory_bytes, state } = weights;
  const digest = weights.sha256 === null ? 'SHA-256 not known' : `SHA-256 ${weights.sha256}`;
  const needsAddress = !weights.has_address && state !== 'here';
  return (
    <Paper withBorder p="sm" role="group" aria-label={name}>
      <Stack gap={6}>
        <Text fw={600}>{title}</Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {gigabytes(bytes)} · licence {licence} · needs about {gigabytes(memory_bytes)} of memory ·{' '}
          {digest}
        </Text>
        {needsAddress && (
          <Group grow align="flex-start">
            <TextInput
              label="Address of the GGUF file"
              placeholder="https://"
              value={url}
              onChange={({ currentTarget }) => setUrl(currentTarget.value)}
            />
            <TextInput
              label="SHA-256"
              description="Empty: that of the first fetch is recorded."
              value={sha256}
              onChange={({ currentTarget }) => setSha256(currentTarget.value)}
            />
          </Group>
        )}
        <Group gap="xs">
          {state === 'here' ? (
            <Button size="compact-sm" disabled={isUsed} onClick={onUse}>
              Use {name}
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="light"
              disabled={needsAddress && url === ''}
              loading={pull.isPending}
              onClick={() => pull.mutate({ name, url, sha256 }, { onError: showFailure })}
            >
              {state === 'begun' ? `Go on fetching ${name}` : `Fetch ${name}`}
            </Button>
          )}
          {pull.data && <RunLink runId={pull.data.run_id} />}
        </Group>
      </Stack>
    </Paper>
  );
}
