/** A connection to an installed service: where it is, and with which credentials. */
import { Button, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ServiceDetail } from '@/api/catalogue';
import { useSaveConnection } from '@/api/connections';
import { projectKey } from '@/api/keys';
import { useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';

interface Credential {
  name: string;
  label: string;
}

/** Ways to say who calls, with the secrets that each needs. */
const WAYS: Record<string, { label: string; secrets: Credential[] }> = {
  none: { label: 'None', secrets: [] },
  api_key: { label: 'API key', secrets: [{ name: 'api_key', label: 'API key' }] },
  bearer: { label: 'Bearer token', secrets: [{ name: 'token', label: 'Token' }] },
  basic: { label: 'User name and password', secrets: [{ name: 'password', label: 'Password' }] },
  client_credentials: {
    label: 'OAuth 2 client credentials',
    secrets: [{ name: 'client_secret', label: 'Client secret' }],
  },
  service_account: {
    label: 'Google service account',
    secrets: [{ name: 'service_account', label: 'JSON key file' }],
  },
  sigv4: {
    label: 'AWS access key',
    secrets: [
      { name: 'access_key_id', label: 'Access key id' },
      { name: 'secret_access_key', label: 'Secret access key' },
    ],
  },
  certificate: {
    label: 'Client certificate (mutual TLS)',
    secrets: [
      { name: 'client_certificate', label: 'Client certificate (PEM)' },
      { name: 'client_key', label: 'Key of the certificate (PEM, without a passphrase)' },
    ],
  },
  fields: { label: 'The fields below', secrets: [] },
};

const OF_SCHEME: Record<string, string> = {
  api_key: 'api_key',
  bearer: 'bearer',
  basic: 'basic',
  oauth2: 'client_credentials',
  google: 'service_account',
  sigv4: 'sigv4',
  mutual_tls: 'certificate',
};

/** What the description offers, first; a token by hand always works for OAuth 2. */
function waysOf({ adapter, schemes }: ServiceDetail): string[] {
  if (adapter === 'aws') return ['sigv4'];
  if (adapter === 'notify') return ['fields'];
  const offered = schemes.map(({ kind }) => OF_SCHEME[kind]).filter((way) => way !== undefined);
  return [...new Set([...offered, 'bearer', 'api_key', 'basic', 'certificate', 'none'])];
}

export function ConnectForm({
  service,
  onConnected,
}: {
  service: ServiceDetail;
  onConnected: () => void;
}) {
  const project = useProject();
  const client = useQueryClient();
  const save = useSaveConnection(project.id);
  const ways = waysOf(service);
  const [name, setName] = useState(service.name.replace(/^[^a-z]+/, '').slice(0, 40));
  const [way, setWay] = useState(ways[0] ?? 'none');
  const [url, setUrl] = useState('');
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const set = (key: string, value: string) => setTexts({ ...texts, [key]: value });
  const hide = (key: string, value: string) => setSecrets({ ...secrets, [key]: value });
  const onSave = () => {
    const { username, client_id, grant_url, scopes, ...fields } = texts;
    const given = { username, client_id, grant_url, scopes };
    const settings = {
      service: service.name,
      base_url: url,
      way,
      fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
    };
    const values = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== ''));
    save.mutate(
      {
        body: { name, kind: 'service', settings, values, secrets: {}, scope_hint: '' },
        changed: null,
      },
      {
        onSuccess: () => {
          showDone(`${name} connected`);
          void client.invalidateQueries({ queryKey: projectKey(project.id, 'service') });
          onConnected();
        },
        onError: showFailure,
      },
    );
  };
  return (
    <Stack gap="xs" component="section" aria-label={`Connect to ${service.title}`}>
      <Text fw={500}>Connect</Text>
      <TextInput
        label="Name"
        description="Playbooks and agents refer to the connection by this name."
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {service.adapter !== 'notify' && (
        <TextInput
          label="Base address"
          placeholder={service.base_url || 'As the service has it'}
          description={
            service.base_url === '' && service.adapter !== 'aws'
              ? 'The description does not say where the service is.'
              : 'Leave it empty to use the address of the description.'
          }
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value.trim())}
        />
      )}
      {service.fields.map((field) =>
        field.secret ? (
          <PasswordInput
            key={field.name}
            label={field.title}
            value={secrets[`field.${field.name}`] ?? ''}
            onChange={({ currentTarget }) => hide(`field.${field.name}`, currentTarget.value)}
          />
        ) : (
          <TextInput
            key={field.name}
            label={field.title}
            placeholder={field.default}
            withAsterisk={field.required && field.default === ''}
            value={texts[field.name] ?? ''}
            onChange={({ currentTarget }) => set(field.name, currentTarget.value.trim())}
          />
        ),
      )}
      {ways.length > 1 && (
        <Select
          label="Authentication"
          data={ways.map((value) => ({ value, label: WAYS[value]?.label ?? value }))}
          value={way}
          allowDeselect={false}
          onChange={(next) => setWay(next ?? 'none')}
        />
      )}
      {way === 'basic' && (
        <TextInput
          label="User name"
          value={texts.username ?? ''}
          onChange={({ currentTarget }) => set('username', currentTarget.value)}
        />
      )}
      {way === 'client_credentials' && (
        <>
          <TextInput
            label="Client id"
            value={texts.client_id ?? ''}
            onChange={({ currentTarget }) => set('client_id', currentTarget.value.trim())}
          />
          <TextInput
            label="Token address"
            placeholder={service.schemes.find(({ token_url }) => token_url !== '')?.token_url ?? ''}
            value={texts.grant_url ?? ''}
            onChange={({ currentTarget }) => set('grant_url', currentTarget.value.trim())}
          />
        </>
      )}
      {(way === 'client_credentials' || way === 'service_account') && (
        <TextInput
          label="Scopes"
          description="Empty: the narrowest that an operation accepts."
          value={texts.scopes ?? ''}
          onChange={({ currentTarget }) => set('scopes', currentTarget.value)}
        />
      )}
      {(WAYS[way]?.secrets ?? []).map(({ name: secret, label }) => (
        <PasswordInput
          key={secret}
          label={label}
          value={secrets[secret] ?? ''}
          onChange={({ currentTarget }) => hide(secret, currentTarget.value)}
        />
      ))}
      <div>
        <Button loading={save.isPending} disabled={name === ''} onClick={onSave}>
          Connect
        </Button>
      </div>
    </Stack>
  );
}
