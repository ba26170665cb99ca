/** Models of this machine: those that Ollama has, and open weights that Steward fetches and runs itself. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  type LocalModels,
  localModelsQuery,
  type ModelSetup,
  type NewModel,
  useSetUpModel,
} from '@/api/models';
import { useProject } from '@/app/project';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { labelFor } from './draft';
import { WeightsCard } from './WeightsCard';

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
      {
        onSuccess: () => showDone(t`${label} is set up. Test it before you rely on it.`),
        onError: showFailure,
      },
    );
  };
  const known = new Set(setup.models.map(({ provider, name }) => `${provider}:${name}`));
  return (
    <Section
      title={t`On this machine`}
      description={t`Steward downloads an open model once and runs it here. Your data stays on this machine.`}
    >
      <Stack>
        <EngineNote machine={data} />
        {data.ollama_models.map((name) => (
          <Paper key={name} withBorder p="sm" role="group" aria-label={t`Ollama ${name}`}>
            <Group justify="space-between">
              <Text size="sm">{t`Ollama has ${name}`}</Text>
              <Button
                size="compact-sm"
                disabled={known.has(`ollama:${name}`)}
                onClick={() => add('ollama', name)}
              >
                {t`Use ${name}`}
              </Button>
            </Group>
          </Paper>
        ))}
        {data.weights.map((weights) => (
          <WeightsCard
            key={weights.name}
            weights={weights}
            machineBytes={data.memory_bytes}
            isUsed={known.has(`local:${weights.name}`)}
            onUse={() => add('local', weights.name)}
          />
        ))}
      </Stack>
    </Section>
  );
}

function EngineNote({ machine }: { machine: LocalModels }) {
  if (machine.engine !== null) return null;
  return (
    <Alert variant="light" color="yellow">
      {t`Nothing on this machine can run a downloaded model yet. Install llama.cpp, or Steward with its extra “local”. Ollama works, too.`}
    </Alert>
  );
}
