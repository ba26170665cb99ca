/** Begins a skill: its name and when to use it; the rest is written on its page. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useSaveSkill } from '@/api/skills';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { skeleton } from './skeleton';

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

interface Props {
  opened: boolean;
  onClose: () => void;
}

export function NewSkillDialog({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Write a skill`}>
      <NewSkillForm onClose={onClose} />
    </Modal>
  );
}

function NewSkillForm({ onClose }: Pick<Props, 'onClose'>) {
  const project = useProject();
  const navigate = useNavigate();
  const save = useSaveSkill(project.id);
  const form = useForm({
    initialValues: { name: '', description: '' },
    validate: {
      name: (name) =>
        name.length <= 64 && NAME.test(name)
          ? null
          : t`Small letters and digits with single hyphens, such as monthly-closing.`,
      description: (text) => (text.trim() === '' ? t`Say what it does and when to use it.` : null),
    },
  });
  const submit = form.onSubmit(({ name, description }) =>
    save.mutate(
      { name, skill_md: skeleton(name, description), message: t`Begun`, revision: null },
      {
        onSuccess: () =>
          void navigate({ to: `/p/${project.id}/skills/${name}`, search: { tab: 'edit' } }),
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`Name`}
          description={t`Agents and plans call it by this name.`}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Textarea
          label={t`Description`}
          description={t`What it does and when to use it. This is all that agents see before they open it.`}
          autosize
          minRows={3}
          maxLength={1024}
          {...form.getInputProps('description')}
        />
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
