/** Starts a recipe: its parameters, what the checks say about the data, and go. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { checkRecipe, type Preflight, type Recipe, startRecipe } from '@/api/recipes';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import classes from './composer.module.css';

interface Props {
  recipe: Recipe;
  threadId: string | null;
  onClose: () => void;
  onStarted: (message: string, threadId: string, runId: string) => void;
}

export function RecipeDialog({ recipe, threadId, onClose, onStarted }: Props) {
  const project = useProject();
  const fields = toolFieldsOf(recipe.parameters, true);
  const [values, setValues] = useState(() => toolValues(fields));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const check = useMutation({
    mutationFn: (given: Record<string, unknown>) => checkRecipe(project.id, recipe.id, given),
  });
  const start = useMutation({
    mutationFn: (given: Record<string, unknown>) =>
      startRecipe(project.id, recipe.id, given, threadId),
    onSuccess: ({ thread_id: thread, run_id: run }) => {
      onClose();
      onStarted(recipe.title, thread, run);
    },
  });
  const filled = (): Record<string, unknown> | null => {
    const found = toolArguments(fields, values);
    setProblems(found.problems ?? {});
    return found.problems === null ? found.arguments : null;
  };
  /** Checked first; a recipe whose checks all say go starts at once. */
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = filled();
    if (given === null) return;
    const told = check.data ?? (await check.mutateAsync(given).catch(() => null));
    if (told && (told.verdict === 'go' || check.data) && told.verdict !== 'stop') {
      start.mutate(given);
    }
  };
  return (
    <Modal opened onClose={onClose} title={recipe.title} size="36rem">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <Text size="sm" c="dimmed">
            {recipe.description}
          </Text>
          <ToolForm
            fields={fields}
            values={values}
            errors={problems}
            onChange={(next) => {
              setValues(next);
              check.reset();
            }}
          />
          {check.data && <Checks preflight={check.data} />}
          <FormError error={check.error ?? start.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t`Cancel`}
            </Button>
            <Button
              type="submit"
              loading={check.isPending || start.isPending}
              disabled={check.data?.verdict === 'stop'}
            >
              {check.data?.verdict === 'warn' ? t`Start anyway` : t`Start`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const ICONS = { go: CircleCheck, warn: TriangleAlert, stop: CircleX };

function Checks({ preflight: { checks } }: { preflight: Preflight }) {
  return (
    <ul className={classes.checks} aria-label={t`Checks before the start`}>
      {checks.map(({ name, verdict, message }) => {
        const Icon = ICONS[verdict];
        return (
          <li key={name} data-verdict={verdict}>
            <Icon size={15} aria-label={verdict} />
            <span>{message}</span>
          </li>
        );
      })}
    </ul>
  );
}
