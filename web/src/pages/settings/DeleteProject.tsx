/** Deletes the project at once and offers to bring it back. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useDeleteProject, useRestoreProject } from '@/api/projects';
import { useSession } from '@/api/session';
import type { ProjectRef } from '@/api/types';
import { projectPath } from '@/app/project';
import { offerUndo, showFailure } from '@/components/undo';

export function DeleteProject({ project }: { project: ProjectRef }) {
  const { projects } = useSession();
  const { remove, refresh } = useDeleteProject();
  const restore = useRestoreProject();
  const navigate = useNavigate();

  const undo = async () => {
    await restore.mutateAsync(project.id);
    await navigate({ to: projectPath(project.id) });
  };
  const onDelete = async () => {
    try {
      await remove.mutateAsync(project.id);
    } catch (error) {
      return showFailure(error);
    }
    offerUndo({ message: t`${project.name} deleted`, undo, undone: t`${project.name} is back` });
    const next = projects.find(({ id }) => id !== project.id);
    await navigate({ to: next ? projectPath(next.id) : '/', replace: true });
    await refresh();
  };

  return (
    <Group justify="space-between" gap="md">
      <Text size="sm" maw="26rem">
        {t`The project disappears for everyone, and its tokens stop working. You can undo this right afterwards.`}
      </Text>
      <Button
        color="red"
        variant="outline"
        leftSection={<Trash2 size={14} aria-hidden />}
        loading={remove.isPending}
        onClick={() => void onDelete()}
      >
        {t`Delete project`}
      </Button>
    </Group>
  );
}
