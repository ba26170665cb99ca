/** The dialog that creates a project and opens it. */
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
    <Modal opened={opened} onClose={close} title="New project">
      <ProjectForm onCancel={close} />
    </Modal>
  );
}

function ProjectForm({ onCancel }: { onCancel: () => void }) {
  const create = useCreateProject();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Give the project a name.' : null) },
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
          label="Name"
          description="People, files, tokens and secrets belong to a project."
          placeholder="Customer data"
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <FormError error={create.error} />
        <FormFooter submit="Create project" isPending={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
