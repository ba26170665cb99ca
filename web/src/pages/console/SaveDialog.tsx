/** Keeps the result of a query as a dataset: a run that shows what would differ before it commits. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Message } from '@/api/chat';
import { startRun } from '@/api/runs';
import { projectPath } from '@/app/project';
import { FormError } from '@/components/FormError';
import type { Parameters } from './parameters';
import { transformOf } from './step';

interface Props {
  projectId: string;
  message: Message;
  parameters: Parameters;
  opened: boolean;
  onClose: () => void;
}

export function SaveDialog({ projectId, message, parameters, opened, onClose }: Props) {
  const navigate = useNavigate();
  const save = useMutation({
    mutationFn: (target: string) =>
      startRun(projectId, {
        tool: 'transform',
        arguments: transformOf(message, target, parameters) ?? {},
        title: t`Save ${target}`,
      }),
    onSuccess: (run) => navigate({ to: projectPath(projectId, 'runs', run.id) }),
  });
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? t`Say what the dataset is called.` : null) },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={t`Save as dataset`}>
      <form onSubmit={form.onSubmit(({ name }) => save.mutate(name.trim()))}>
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            {t`The query runs again without a limit of rows. A dataset of that name is replaced; its earlier state stays in the history.`}
          </Text>
          <TextInput label={t`Name`} data-autofocus {...form.getInputProps('name')} />
          <FormError error={save.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t`Cancel`}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t`Save`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
