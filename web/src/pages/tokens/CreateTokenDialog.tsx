/** Creates a token and shows it this one time. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { EyeOff } from 'lucide-react';
import { fieldMessages } from '@/api/errors';
import { rolesUpTo } from '@/api/roles';
import { useCreateToken } from '@/api/tokens';
import type { ProjectRef, Role } from '@/api/types';
import { CodeBlock } from '@/components/CodeBlock';
import { CopyField } from '@/components/CopyField';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { RoleSelect } from '@/components/RoleSelect';

const LIFETIMES = [
  { value: '7', label: t`7 days` },
  { value: '30', label: t`30 days` },
  { value: '90', label: t`90 days` },
  { value: '365', label: t`1 year` },
];

interface Props {
  project: ProjectRef;
  opened: boolean;
  onClose: () => void;
}

export function CreateTokenDialog({ project, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Create API token`}>
      <CreateSteps project={project} onClose={onClose} />
    </Modal>
  );
}

function CreateSteps({ project, onClose }: Omit<Props, 'opened'>) {
  const create = useCreateToken(project.id);
  if (create.data) {
    return <CreatedToken projectId={project.id} token={create.data.token} onClose={onClose} />;
  }
  return <TokenForm project={project} create={create} onClose={onClose} />;
}

interface FormProps extends Omit<Props, 'opened'> {
  create: ReturnType<typeof useCreateToken>;
}

function TokenForm({ project, create, onClose }: FormProps) {
  const roles = rolesUpTo(project.role);
  const form = useForm<{ name: string; role: Role; days: string }>({
    initialValues: {
      name: '',
      role: roles.includes('editor') ? 'editor' : project.role,
      days: '90',
    },
    validate: {
      name: (name) => (name.trim() === '' ? t`Say which program will use the token.` : null),
    },
  });
  const submit = form.onSubmit(({ name, role, days }) =>
    create.mutate(
      { name: name.trim(), role, expires_in_days: Number(days) },
      { onError: (error) => form.setErrors(fieldMessages(error)) },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`Name`}
          description={t`Which program will use it.`}
          placeholder={t`Nightly import`}
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <RoleSelect
          label={t`Role`}
          roles={roles}
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
        />
        <Select
          label={t`Expires after`}
          data={LIFETIMES}
          allowDeselect={false}
          {...form.getInputProps('days')}
        />
        <FormError error={create.error} />
        <FormFooter submit={t`Create token`} isPending={create.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

interface CreatedProps {
  projectId: string;
  token: string;
  onClose: () => void;
}

function CreatedToken({ projectId, token, onClose }: CreatedProps) {
  const address = `${globalThis.location.origin}/api/v1/projects/${projectId}/files`;
  return (
    <Stack>
      <Alert color="yellow" icon={<EyeOff size={16} aria-hidden />} title={t`Copy the token now`}>
        {t`It is not stored and cannot be shown again.`}
      </Alert>
      <CopyField label={t`Token`} value={token} />
      <CodeBlock
        label={t`example request`}
        code={`curl -H "Authorization: Bearer $STEWARD_TOKEN" \\\n  ${address}`}
      />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  );
}
