/** One model: what it is, what its server can do, and what can be done with it. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Code, Group, Paper, Stack, Text } from '@mantine/core';
import { EyeOff, KeyRound } from 'lucide-react';
import {
  type Model,
  type ModelSetup,
  useRemoveModel,
  useRestoreModels,
  useTestModel,
} from '@/api/models';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { offerUndo, showFailure } from '@/components/undo';
import { abilityWords } from './ability-words';

interface Props {
  model: Model;
  setup?: ModelSetup;
  onChange?: () => void;
}

export function ModelCard({ model, setup, onChange }: Props) {
  return (
    <Paper withBorder p="sm" role="group" aria-label={model.label}>
      <Stack gap={6}>
        <Group gap="xs">
          <Text fw={600}>{model.label}</Text>
          <Code>
            {model.provider}:{model.name}
          </Code>
          {!model.allow_rows && <Chip icon={EyeOff} word={t`no rows of data`} />}
          {model.has_key && <Chip icon={KeyRound} word={t`key set`} />}
        </Group>
        {model.base_url !== null && (
          <Text size="xs" c="dimmed">
            {model.base_url}
          </Text>
        )}
        <Text size="sm">{abilityWords(model)}</Text>
        {setup?.may_change && <Actions model={model} setup={setup} onChange={onChange} />}
      </Stack>
    </Paper>
  );
}

function Actions({ model, setup, onChange }: Required<Pick<Props, 'model' | 'setup'>> & Props) {
  const project = useProject();
  const test = useTestModel(project.id);
  const remove = useRemoveModel(project.id);
  const restore = useRestoreModels(project.id);
  const { level, revision } = setup;
  const { label } = model;
  const drop = () =>
    remove.mutate(
      { level, revision, label },
      {
        onSuccess: () =>
          offerUndo({
            message: t`${label} removed`,
            undo: () => restore.mutateAsync({ level, revision }),
            undone: t`${label} is back`,
          }),
        onError: showFailure,
      },
    );
  const look = { variant: 'subtle', color: 'gray', size: 'compact-sm' } as const;
  return (
    <>
      <Group gap={4}>
        <Button
          {...look}
          loading={test.isPending}
          aria-label={t`Test ${label}`}
          onClick={() => test.mutate({ level, label }, { onError: showFailure })}
        >
          {t`Test`}
        </Button>
        <Button {...look} aria-label={t`Change ${label}`} onClick={onChange}>
          {t`Change`}
        </Button>
        <Button {...look} aria-label={t`Remove ${label}`} onClick={drop}>
          {t`Remove`}
        </Button>
      </Group>
      {test.data && (
        <Alert variant="light" color={test.data.worked ? 'steward' : 'red'} role="status">
          {test.data.words}
        </Alert>
      )}
    </>
  );
}
