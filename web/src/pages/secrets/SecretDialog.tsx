/** Sets a new secret or replaces the value of one. */
import { Modal, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { fieldMessages } from '@/api/errors';
import { secretSourcesQuery, useSetSecret } from '@/api/secrets';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;

const REFERENCES = {
  environment: 'The name of a variable where Steward runs.',
  files: 'The name of a file in the folder of secrets.',
  vault: 'Path and field, such as databases/warehouse#password.',
  aws: 'Name, or name and field, such as warehouse#password.',
  gcp: 'Name, or name and field, such as warehouse#password.',
};

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
  const sources = useQuery(secretSourcesQuery(projectId)).data ?? [];
  const form = useForm({
    initialValues: { name: replaced ?? '', value: '', source: '', reference: '' },
    validate: {
      name: (name) =>
        NAME.test(name.trim()) ? null : 'Give it a name such as WAREHOUSE_PASSWORD.',
      value: (value, { source }) => (source === '' && value === '' ? 'Enter the value.' : null),
      reference: (reference, { source }) =>
        source !== '' && reference.trim() === '' ? 'Say where the value is.' : null,
    },
  });
  const chosen = sources.find(({ name }) => name === form.values.source);
  const submit = form.onSubmit(({ name, value, source, reference }) =>
    set.mutate(
      {
        name: name.trim(),
        content: source === '' ? { value } : { source, reference: reference.trim() },
      },
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
        {sources.length > 0 && (
          <NativeSelect
            label="Where the value is"
            data={[
              { value: '', label: 'In Steward, encrypted' },
              ...sources.map(({ name }) => ({ value: name, label: name })),
            ]}
            {...form.getInputProps('source')}
          />
        )}
        {chosen ? (
          <TextInput
            label="Reference"
            description={REFERENCES[chosen.kind]}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
        ) : (
          <PasswordInput
            label={replaced ? 'New value' : 'Value'}
            description="It cannot be shown again."
            autoComplete="off"
            data-autofocus={replaced ? true : undefined}
            {...form.getInputProps('value')}
          />
        )}
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
