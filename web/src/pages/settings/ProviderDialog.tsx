/** Adds or changes an OpenID provider. */
import { t } from '@lingui/core/macro';
import {
  Button,
  Group,
  Input,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { type GetInputPropsReturnType, useForm } from '@mantine/form';
import { Plus } from 'lucide-react';
import { fieldMessages } from '@/api/errors';
import { rolesUpTo } from '@/api/roles';
import { useSession } from '@/api/session';
import { type ProviderDraft, useSaveProvider } from '@/api/sign-on';
import type { SignOnProvider, SignOnRule } from '@/api/types';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { RoleSelect } from '@/components/RoleSelect';
import { showDone } from '@/components/undo';

interface Props {
  edited: SignOnProvider | 'new' | null;
  onClose: () => void;
}

export function ProviderDialog({ edited, onClose }: Props) {
  const title = edited === 'new' || edited === null ? t`Add a provider` : t`Edit ${edited.name}`;
  return (
    <Modal opened={edited !== null} onClose={onClose} title={title} size="xl">
      {edited !== null && (
        <ProviderForm provider={edited === 'new' ? undefined : edited} onClose={onClose} />
      )}
    </Modal>
  );
}

interface Values extends Omit<ProviderDraft, 'scopes' | 'client_secret' | 'rules'> {
  client_secret: string;
  scopes: string;
  rules: SignOnRule[];
}

const FIRST: Values = {
  name: '',
  issuer: '',
  client_id: '',
  client_secret: '',
  scopes: 'openid profile email',
  rules: [],
  just_in_time: true,
  join_verified_email: false,
  session_hours: 24,
  enabled: true,
};

function valuesOf(provider: SignOnProvider | undefined): Values {
  if (provider === undefined) return FIRST;
  const { name, issuer, client_id, just_in_time, join_verified_email, session_hours } = provider;
  return {
    ...{ name, issuer, client_id, just_in_time, join_verified_email, session_hours },
    client_secret: '',
    scopes: provider.scopes.join(' '),
    rules: [...provider.rules],
    enabled: provider.enabled,
  };
}

const needed = (text: string) => (value: string) => (value.trim() === '' ? text : null);

function ProviderForm({
  provider,
  onClose,
}: {
  provider: SignOnProvider | undefined;
  onClose: () => void;
}) {
  const project = useProject();
  const save = useSaveProvider(project.id);
  const form = useForm<Values>({
    initialValues: valuesOf(provider),
    validate: {
      name: needed(t`Enter the name that people see on the sign-in page.`),
      issuer: needed(t`Enter the address of the issuer.`),
      client_id: needed(t`Enter the client ID.`),
      rules: {
        claim: needed(t`Enter a claim.`),
        value: needed(t`Enter a value.`),
      },
    },
  });
  const submit = form.onSubmit(({ client_secret, scopes, ...values }) => {
    const draft: ProviderDraft = {
      ...values,
      scopes: scopes.split(/\s+/).filter((scope) => scope !== '' && scope !== 'openid'),
      ...(client_secret === '' ? {} : { client_secret }),
    };
    save.mutate(
      { draft, provider },
      {
        onSuccess: ({ name }) => {
          showDone(t`${name} saved`);
          onClose();
        },
        onError: (error) => {
          form.setErrors(fieldMessages(error));
        },
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput label={t`Name`} placeholder={t`Acme`} {...form.getInputProps('name')} />
        <TextInput
          label={t`Issuer`}
          placeholder="https://login.acme.example"
          description={t`Exactly as the provider writes it. Steward reads everything else from there.`}
          {...form.getInputProps('issuer')}
        />
        <TextInput label={t`Client ID`} autoComplete="off" {...form.getInputProps('client_id')} />
        <PasswordInput
          label={t`Client secret`}
          autoComplete="new-password"
          description={
            provider?.has_secret
              ? t`A secret is stored. Enter a new one to replace it.`
              : t`Stored encrypted. No one can read it back here.`
          }
          {...form.getInputProps('client_secret')}
        />
        <TextInput
          label={t`Scopes`}
          description={t`Some providers need one more for groups.`}
          {...form.getInputProps('scopes')}
        />
        <Input.Wrapper
          label={t`Roles`}
          labelElement="div"
          description={t`Steward checks the rules at each sign-in. A person who no longer matches a rule loses the role that it gave.`}
        >
          <Stack gap="xs" mt="xs">
            {form.values.rules.map((_, place) => (
              <RuleRow
                key={place}
                place={place}
                field={(name) => form.getInputProps(`rules.${place}.${name}`)}
                onRemove={() => {
                  form.removeListItem('rules', place);
                }}
              />
            ))}
            <Group>
              <Button
                variant="default"
                size="compact-sm"
                leftSection={<Plus size={14} aria-hidden />}
                onClick={() => {
                  form.insertListItem('rules', {
                    claim: 'groups',
                    value: '',
                    project_id: project.id,
                    role: 'viewer',
                  });
                }}
              >
                {t`Add a rule`}
              </Button>
            </Group>
          </Stack>
        </Input.Wrapper>
        <Switch
          label={t`Create accounts for people who match a rule`}
          description={t`Off: new people need an invitation to their verified e-mail address.`}
          {...form.getInputProps('just_in_time', { type: 'checkbox' })}
        />
        <Switch
          label={t`Join existing accounts by verified e-mail address`}
          description={t`Only switch this on if you trust the provider to verify addresses. Owners of the organisation are never joined.`}
          {...form.getInputProps('join_verified_email', { type: 'checkbox' })}
        />
        <NumberInput
          label={t`Sign in again after (hours)`}
          min={1}
          max={720}
          w="12rem"
          {...form.getInputProps('session_hours')}
        />
        <Switch
          label={t`Offer on the sign-in page`}
          description={t`Switching this off signs out everyone who signed in with it.`}
          {...form.getInputProps('enabled', { type: 'checkbox' })}
        />
        <FormError error={save.error} />
        <FormFooter
          submit={provider === undefined ? t`Add` : t`Save`}
          isPending={save.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

interface RowProps {
  place: number;
  field: (name: keyof SignOnRule) => GetInputPropsReturnType;
  onRemove: () => void;
}

function RuleRow({ place, field, onRemove }: RowProps) {
  const { projects } = useSession();
  const organisation = useProject().organisation.id;
  const choices = projects.filter((each) => each.organisation.id === organisation);
  const { value, onChange } = field('role') as Pick<
    Parameters<typeof RoleSelect>[0],
    'value' | 'onChange'
  >;
  return (
    <Group gap="xs" align="flex-start">
      <TextInput aria-label={t`Claim`} placeholder={t`groups`} w="8rem" {...field('claim')} />
      <TextInput aria-label={t`Value`} placeholder={t`finance`} w="10rem" {...field('value')} />
      <Select
        aria-label={t`Project`}
        w="11rem"
        allowDeselect={false}
        data={choices.map(({ id, name }) => ({ value: id, label: name }))}
        {...field('project_id')}
      />
      <RoleSelect
        aria-label={t`Role`}
        w="8rem"
        roles={rolesUpTo('owner')}
        value={value}
        onChange={onChange}
      />
      <Button
        variant="subtle"
        color="gray"
        aria-label={t`Remove rule ${place + 1}`}
        onClick={onRemove}
      >
        <Text size="sm">{t`Remove`}</Text>
      </Button>
    </Group>
  );
}
