/** Sets a new secret or replaces the value of one. */
import { t } from '@lingui/core/macro';
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
  environment: t`The name of a variable where Steward runs.`,
  files: t`The name of a file in the folder of secrets.`,
  vault: t`Path and field, such as databases/warehouse#password.`,
  aws: t`Name, or name and field, such as warehouse#password.`,
  gcp: t`Name, or name and field, such as warehouse#password.`,
};

interface Props {
  projectId: string;
  opened: boolean;
  /** The secret whose value is replaced; a new one is made without it. */
  replaced?: string | null;
  onClose: () => void;
}

export function SecretDialog({ projectId, opened, replaced = null, onClose }: Props) {
  const title = replaced === null ? t`Set a secret` : t`Replace ${replaced}`;
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
        NAME.test(name.trim()) ? null : t`Give it a name such as WAREHOUSE_PASSWORD.`,
      value: (value, { source }) => (source === '' && value === '' ? t`Enter the value.` : null),
      reference: (reference, { source }) =>
        source !== '' && reference.trim() === '' ? t`Say where the value is.` : null,
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
          showDone(replaced === null ? t`${name.trim()} set` : t`${name.trim()} replaced`);
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
            label={t`Name`}
            description={t`Begins with a letter; letters, digits, dots, dashes and underscores.`}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
          />
        )}
        {sources.length > 0 && (
          <NativeSelect
            label={t`Where the value is`}
            data={[
              { value: '', label: t`In Steward, encrypted` },
              ...sources.map(({ name }) => ({ value: name, label: name })),
            ]}
            {...form.getInputProps('source')}
          />
        )}
        {chosen ? (
          <TextInput
            label={t`Reference`}
            description={REFERENCES[chosen.kind]}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
        ) : (
          <PasswordInput
            label={replaced ? t`New value` : t`Value`}
            description={t`It cannot be shown again.`}
            autoComplete="off"
            data-autofocus={replaced ? true : undefined}
            {...form.getInputProps('value')}
          />
        )}
        <FormError error={set.error} />
        <FormFooter
          submit={replaced ? t`Replace` : t`Set secret`}
          isPending={set.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
