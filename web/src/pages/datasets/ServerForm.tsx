/** Where the database is: an address and a password that is never kept, or a secret that holds both. */
import { t } from '@lingui/core/macro';
import {
  Button,
  Group,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import { itemsOf } from '@/api/lists';
import { secretsQuery } from '@/api/secrets';
import type { ServerPlace } from '@/api/servers';
import { useMay } from '@/app/project';
import { FormError } from '@/components/FormError';
import { splitPassword, withPassword } from './server-address';

interface Props {
  projectId: string;
  isBusy: boolean;
  error: unknown;
  onConnect: (place: ServerPlace) => void;
  onLeave: () => void;
}

export function ServerForm({ projectId, isBusy, error, onConnect, onLeave }: Props) {
  const [by, setBy] = useState('address');
  const [address, setAddress] = useState('');
  const [password, setPassword] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const isAdmin = useMay('admin');
  const place: ServerPlace | null =
    by === 'address'
      ? address.trim() === ''
        ? null
        : { url: withPassword(address, password) }
      : secret === null
        ? null
        : { secret };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (place) onConnect(place);
  };
  const hidePassword = () => {
    // A pasted address often has the password in it, which is not to stay in sight.
    const split = splitPassword(address);
    if (split.password === '') return;
    setAddress(split.address);
    setPassword(split.password);
  };
  const messages = fieldMessages(error);
  return (
    <form onSubmit={submit} autoComplete="off">
      <Stack>
        <SegmentedControl
          aria-label={t`How the server is named`}
          data={[
            { value: 'address', label: t`By address` },
            { value: 'secret', label: t`By a stored secret` },
          ]}
          value={by}
          disabled={isBusy}
          style={{ alignSelf: 'flex-start' }}
          onChange={setBy}
        />
        {by === 'address' ? (
          <>
            <TextInput
              label={t`Address`}
              description={t`PostgreSQL or MySQL, as in postgresql://reader@db.example.com:5432/sales?sslmode=require`}
              placeholder={t`postgresql://user@host:port/database`}
              value={address}
              error={messages.url}
              disabled={isBusy}
              spellCheck={false}
              autoCapitalize="off"
              data-autofocus
              onChange={({ currentTarget: { value } }) => setAddress(value)}
              onBlur={hidePassword}
            />
            <PasswordInput
              label={t`Password`}
              description={t`Used to connect, and kept nowhere.`}
              value={password}
              disabled={isBusy}
              autoComplete="new-password"
              onChange={({ currentTarget: { value } }) => setPassword(value)}
            />
          </>
        ) : (
          <SecretChoice
            projectId={projectId}
            value={secret}
            error={messages.secret}
            disabled={isBusy}
            onChange={setSecret}
          />
        )}
        {!isAdmin && (
          <Text size="sm" c="dimmed">
            {t`Servers on private addresses, such as this machine or the local network, are open to admins of the project.`}
          </Text>
        )}
        <FormError error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onLeave}>
            {t`Back`}
          </Button>
          <Button type="submit" loading={isBusy} disabled={place === null}>
            {t`Show tables`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface SecretProps {
  projectId: string;
  value: string | null;
  error: string | undefined;
  disabled: boolean;
  onChange: (name: string | null) => void;
}

function SecretChoice({ projectId, value, error, disabled, onChange }: SecretProps) {
  const query = useInfiniteQuery(secretsQuery(projectId));
  const names = itemsOf(query.data).map(({ name }) => name);
  return (
    <Select
      label={t`Secret`}
      description={t`One whose value is a whole address: postgresql://user:password@host:port/database`}
      placeholder={query.isSuccess && names.length === 0 ? t`No secrets yet` : t`Choose a secret`}
      data={names}
      value={value}
      error={error ?? (query.isError ? t`The secrets could not be listed.` : null)}
      disabled={disabled}
      searchable
      onChange={onChange}
    />
  );
}
