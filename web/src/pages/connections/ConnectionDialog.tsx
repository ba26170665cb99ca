/** Adds a connection or changes one: first its kind, then the form that the kind brings. */
import { t } from '@lingui/core/macro';
import { Alert, Modal, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import {
  type Connection,
  type ConnectionKind,
  kindsQuery,
  useSaveConnection,
} from '@/api/connections';
import { fieldMessages } from '@/api/errors';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { SchemaForm } from '@/components/SchemaForm';
import { initialValues, missingFields } from '@/components/schema-form';
import { showDone } from '@/components/undo';
import { documentOf, meaningful, settingsFields, usefulSecrets } from './settings-form';

interface Props {
  projectId: string;
  opened: boolean;
  /** The connection that is changed; a new one is made without it. */
  changed: Connection | null;
  onClose: () => void;
  /** Called with a connection that was just made or changed. */
  onSaved: (connection: Connection) => void;
}

export function ConnectionDialog(props: Props) {
  const { opened, changed, onClose } = props;
  const title = changed === null ? t`Add a connection` : t`Change ${changed.name}`;
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="lg">
      <Content {...props} key={changed?.id ?? 'new'} />
    </Modal>
  );
}

function Content(props: Props) {
  const { projectId, changed } = props;
  const query = useQuery(kindsQuery(projectId));
  const [chosen, choose] = useState<string | null>(changed?.kind ?? null);
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const kinds = query.data ?? [];
  const kind = kinds.find((each) => each.kind === chosen);
  return (
    <Stack>
      {changed === null && (
        <Select
          label={t`Kind`}
          placeholder={t`Choose what to connect to`}
          data={kinds.map((each) => ({ value: each.kind, label: each.title }))}
          value={chosen}
          description={kind?.description}
          searchable
          data-autofocus
          onChange={choose}
        />
      )}
      {kind && <ConnectionForm key={kind.kind} kind={kind} {...props} />}
    </Stack>
  );
}

function ConnectionForm({
  kind,
  projectId,
  changed,
  onClose,
  onSaved,
}: Props & { kind: ConnectionKind }) {
  const save = useSaveConnection(projectId);
  const fields = settingsFields(kind);
  const [name, setName] = useState(changed?.name ?? '');
  const [hint, setHint] = useState(changed?.scope_hint ?? '');
  const [values, setValues] = useState(() => initialValues(fields, changed?.settings));
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [tried, setTried] = useState(false);
  const shown = meaningful(kind, fields, values);
  const missing = missingFields(shown, values);
  const lacking = kind.secrets.filter(
    (secret) => secret.required && !secrets[secret.name] && !changed?.secrets[secret.name],
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTried(true);
    if (name.trim() === '' || missing.length > 0 || lacking.length > 0) return;
    save.mutate(
      { body: documentOf(kind, { name, hint, values, secrets }, changed), changed },
      {
        onSuccess: (saved) => {
          showDone(changed === null ? t`${saved.name} added` : t`${saved.name} changed`);
          onSaved(saved);
          onClose();
        },
      },
    );
  };
  const needed = tried
    ? Object.fromEntries(missing.map((field) => [field, t`This is needed.`]))
    : {};
  const errors = { ...needed, ...fieldMessages(save.error) };
  const nameError = tried && name.trim() === '' ? t`Give it a name.` : errors.name;
  return (
    <form onSubmit={submit} autoComplete="off" noValidate>
      <Stack>
        <TextInput
          label={t`Name`}
          description={t`Tools and playbooks refer to it by this: small letters, digits, - and _.`}
          placeholder={t`warehouse`}
          withAsterisk
          value={name}
          error={nameError}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <SchemaForm
          fields={shown}
          values={values}
          columns={[]}
          errors={errors}
          onChange={setValues}
        />
        {usefulSecrets(kind, values).map((secret) => (
          <PasswordInput
            key={secret.name}
            label={secret.title}
            description={secretWords(secret.description, changed?.secrets[secret.name])}
            withAsterisk={secret.required}
            autoComplete="new-password"
            value={secrets[secret.name] ?? ''}
            error={tried && lacking.includes(secret) ? t`This is needed.` : errors[secret.name]}
            onChange={({ currentTarget }) =>
              setSecrets({ ...secrets, [secret.name]: currentTarget.value })
            }
          />
        ))}
        <TextInput
          label={t`What it is for`}
          description={t`People and planners choose connections by these words.`}
          value={hint}
          onChange={({ currentTarget }) => setHint(currentTarget.value)}
        />
        {values.transport === 'stdio' && (
          <Alert color="yellow" title={t`This starts a program on the machine that runs Steward`}>
            <Text size="sm">
              {t`It runs with Steward’s own rights. It is not started before somebody who runs this installation has accepted exactly this program.`}
            </Text>
          </Alert>
        )}
        <FormError error={save.error} />
        <FormFooter
          submit={changed === null ? t`Add` : t`Save`}
          isPending={save.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

/** What a field of a secret says about itself. */
function secretWords(description: string, kept: string | undefined): string {
  const words = description === '' ? '' : `${description} `;
  return kept === undefined
    ? t`${words}Kept as a secret of the project.`
    : t`${words}Left empty, the secret ${kept} stays.`;
}
