/** The dialog that creates a project and opens it. */
import { t } from '@lingui/core/macro';
import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { fieldMessages } from '@/api/errors';
import { useCreateProject } from '@/api/projects';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { useDialog } from '@/components/use-search-param';
import { projectPath } from './project';

export default function CreateProject() {
  const { opened, close } = useDialog('new-project');
  return (
    <Modal opened={opened} onClose={close} title={t`New project`}>
      <ProjectForm onCancel={close} />
    </Modal>
  );
}

function ProjectForm({ onCancel }: { onCancel: () => void }) {
  const create = useCreateProject();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? t`Give the project a name.` : null) },
  });
  const submit = form.onSubmit(({ name }) =>
    create.mutate(name.trim(), {
      onSuccess: (project) => void navigate({ to: projectPath(project.id) }),
      onError: (error) => form.setErrors(fieldMessages(error)),
    }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`Name`}
          description={t`People, files, tokens and secrets belong to a project.`}
          placeholder={t`Customer data`}
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <FormError error={create.error} />
        <FormFooter submit={t`Create project`} isPending={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
