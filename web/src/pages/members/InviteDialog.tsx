/** Makes an invitation link. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery } from '@tanstack/react-query';
import { insideSentence } from '@/language';
import { fieldMessages } from '@/api/errors';
import { itemsOf } from '@/api/lists';
import { useInvite } from '@/api/members';
import { playbooksQuery } from '@/api/playbooks';
import { ROLE_DESCRIPTIONS, roleName, rolesUpTo } from '@/api/roles';
import type { InvitationCreated, ProjectRef } from '@/api/types';
import { CopyField } from '@/components/CopyField';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { FormattedDate } from '@/components/Moment';
import { RoleSelect } from '@/components/RoleSelect';
import type { InvitationDraft } from './MembersPage';

const LIFETIMES = [
  { value: '1', label: t`1 day` },
  { value: '7', label: t`7 days` },
  { value: '30', label: t`30 days` },
];

const WHOLE_LIBRARY = { text: '', folder: null, shelf: 'used' } as const;

interface Props {
  project: ProjectRef;
  draft: InvitationDraft;
  opened: boolean;
  onClose: () => void;
}

export function InviteDialog({ project, draft, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Invite to ${project.name}`}>
      <InviteSteps project={project} draft={draft} onClose={onClose} />
    </Modal>
  );
}

function InviteSteps({ project, draft, onClose }: Omit<Props, 'opened'>) {
  const invite = useInvite(project.id);
  if (invite.data) return <CreatedLink invitation={invite.data} onClose={onClose} />;
  return <InviteForm project={project} draft={draft} invite={invite} onClose={onClose} />;
}

interface FormProps extends Omit<Props, 'opened'> {
  invite: ReturnType<typeof useInvite>;
}

function InviteForm({ project, draft, invite, onClose }: FormProps) {
  const form = useForm({
    initialValues: { ...draft, days: '7' },
    validate: {
      email: (email) =>
        email === '' || email.includes('@') ? null : t`Enter an e-mail address or leave it empty.`,
    },
  });
  const playbooks = itemsOf(useInfiniteQuery(playbooksQuery(project.id, WHOLE_LIBRARY)).data);
  const submit = form.onSubmit(({ role, email, days, playbook }) =>
    invite.mutate(
      {
        role,
        expires_in_days: Number(days),
        ...(email === '' ? {} : { email }),
        ...(playbook === '' ? {} : { playbook }),
      },
      { onError: (error) => form.setErrors(fieldMessages(error)) },
    ),
  );
  const choosePlaybook = (playbook: string | null) => {
    form.setFieldValue('playbook', playbook ?? '');
    // Who comes to run one playbook needs no more than that.
    if (playbook !== null && !form.isDirty('role')) form.setFieldValue('role', 'operator');
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`E-mail`}
          description={t`Without an address, the link works for the first person who opens it.`}
          placeholder={t`colleague@example.com`}
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('email')}
        />
        <RoleSelect
          label={t`Role`}
          roles={rolesUpTo(project.role)}
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
        />
        <Select
          label={t`Playbook`}
          description={t`Steward shares it with them and opens it when they have joined.`}
          placeholder={t`None`}
          data={playbooks.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          clearable
          limit={60}
          value={form.values.playbook === '' ? null : form.values.playbook}
          error={form.errors.playbook}
          onChange={choosePlaybook}
        />
        <Text size="sm" c="dimmed">
          {roleName(form.values.role)}: {insideSentence(ROLE_DESCRIPTIONS[form.values.role])}.
        </Text>
        <Select
          label={t`The link works for`}
          data={LIFETIMES}
          allowDeselect={false}
          {...form.getInputProps('days')}
        />
        <FormError error={invite.error} />
        <FormFooter submit={t`Create link`} isPending={invite.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

interface CreatedProps {
  invitation: InvitationCreated;
  onClose: () => void;
}

function CreatedLink({ invitation, onClose }: CreatedProps) {
  const address = new URL(invitation.link, globalThis.location.origin).href;
  return (
    <Stack>
      <Text size="sm">
        <Trans>
          Send this link to {invitation.email ?? t`your colleague`}. It is shown only now and works
          until <FormattedDate value={invitation.expires_at} withTime />.
        </Trans>
      </Text>
      <CopyField label={t`Invitation link`} value={address} />
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          {t`Done`}
        </Button>
      </Group>
    </Stack>
  );
}
