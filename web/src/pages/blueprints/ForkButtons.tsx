/** Makes a blueprint the reader's own, with or without its sample data. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FlaskConical, GitFork } from 'lucide-react';
import { type Blueprint, loadSample, useForkBlueprint } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';
import classes from './blueprints.module.css';

export function ForkButtons({ blueprint }: { blueprint: Blueprint }) {
  const project = useProject();
  const navigate = useNavigate();
  const mayFork = useMay('editor');
  const fork = useForkBlueprint(project.id);
  const begin = () =>
    fork.mutate(blueprint.id, {
      onSuccess: (made) => {
        showDone(t`${made.name} is your draft now`);
        void navigate({ to: projectPath(project.id, 'playbooks', made.id) });
      },
      onError: showFailure,
    });
  const trial = useMutation({
    mutationFn: async () => {
      const { items } = await loadSample(project.id, blueprint.id);
      return { items, made: await fork.mutateAsync(blueprint.id) };
    },
    onSuccess: ({ items, made }) => {
      const kept = items.filter(({ loaded }) => !loaded).map(({ dataset }) => dataset);
      showDone(
        kept.length === 0
          ? t`${made.name} is your draft now, with its sample data`
          : t`${made.name} is your draft now. Your own data was left as it is: ${kept.join(', ')}`,
      );
      void navigate({
        to: projectPath(project.id, 'playbooks', made.id),
        search: { sample: blueprint.id },
      });
    },
    onError: showFailure,
  });
  return (
    <Group className={classes.bottom ?? ''}>
      {mayFork ? (
        <Button
          leftSection={<GitFork size={14} aria-hidden />}
          loading={fork.isPending && !trial.isPending}
          disabled={trial.isPending}
          aria-label={t`Fork ${blueprint.title}`}
          onClick={begin}
        >
          {t`Fork`}
        </Button>
      ) : (
        <Text size="xs" c="dimmed">
          {t`An editor of the project can fork it.`}
        </Text>
      )}
      {mayFork && blueprint.sample && (
        <Button
          variant="default"
          leftSection={<FlaskConical size={14} aria-hidden />}
          loading={trial.isPending}
          disabled={fork.isPending}
          aria-label={t`Try on sample data: ${blueprint.title}`}
          onClick={() => trial.mutate()}
        >
          {t`Try on sample data`}
        </Button>
      )}
    </Group>
  );
}
