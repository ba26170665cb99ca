/** Sets a new secret or replaces the value of one. */
import { Modal, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { fieldMessages } from '@/api/errors';
import { useSetSecret } from '@/api/secrets';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;

interface Props {
  projectId: string;
  opened: boolean;
  /** The secret whose value is replaced; a new one is made without it. */
  replaced?: string | null;
  onClose: () => void;
}

export function SecretDialog({ projectId, opened, replaced = null, onClose }: Props) {
  const title = replaced === null ? 'Set a secret' : `Replace ${replaced}`;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <SecretForm projectId={projectId} replaced={replaced} onClose={onClose} />
    </Modal>
  );
}

function SecretForm({ projectId, replaced, onClose }: Omit<Props, 'opened'>) {
  const set = useSetSecret(projectId);
  const form = useForm({
    initialValues: { name: replaced ?? '', value: '' },
    validate: {
      name: (name) =>
        NAME.test(name.trim()) ? null : 'Give it a name such as WAREHOUSE_PASSWORD.',
      value: (value) => (value === '' ? 'Enter the value.' : null),
    },
  });
  const submit = form.onSubmit(({ name, value }) =>
    set.mutate(
      { name: name.trim(), value },
      {
        onSuccess: () => {
          showDone(`${name.trim()} ${replaced === null ? 'set' : 'replaced'}`);
          onClose();
        },
        onError: (error) => form.setErrors(fieldMessages(error)),
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {!replaced && (
          <TextInput
            label="Name"
            description="Begins with a letter; letters, digits, dots, dashes and underscores."
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
          />
        )}
        <PasswordInput
          label={replaced ? 'New value' : 'Value'}
          description="It cannot be shown again."
          autoComplete="off"
          data-autofocus={replaced ? true : undefined}
          {...form.getInputProps('value')}
        />
        <FormError error={set.error} />
        <FormFooter
          submit={replaced ? 'Replace' : 'Set secret'}
          isPending={set.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
