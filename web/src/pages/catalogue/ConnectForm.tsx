/** A connection to an installed service: where it is, and with which credentials. */
import { t } from '@lingui/core/macro';
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
  none: { label: t`None`, secrets: [] },
  api_key: { label: t`API key`, secrets: [{ name: 'api_key', label: t`API key` }] },
  bearer: { label: t`Bearer token`, secrets: [{ name: 'token', label: t`Token` }] },
  basic: { label: t`User name and password`, secrets: [{ name: 'password', label: t`Password` }] },
  client_credentials: {
    label: t`OAuth 2 client credentials`,
    secrets: [{ name: 'client_secret', label: t`Client secret` }],
  },
  service_account: {
    label: t`Google service account`,
    secrets: [{ name: 'service_account', label: t`JSON key file` }],
  },
  sigv4: {
    label: t`AWS access key`,
    secrets: [
      { name: 'access_key_id', label: t`Access key id` },
      { name: 'secret_access_key', label: t`Secret access key` },
    ],
  },
  certificate: {
    label: t`Client certificate (mutual TLS)`,
    secrets: [
      { name: 'client_certificate', label: t`Client certificate (PEM)` },
      { name: 'client_key', label: t`Key of the certificate (PEM, without a passphrase)` },
    ],
  },
  fields: { label: t`The fields below`, secrets: [] },
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
          showDone(t`${name} connected`);
          void client.invalidateQueries({ queryKey: projectKey(project.id, 'service') });
          onConnected();
        },
        onError: showFailure,
      },
    );
  };
  return (
    <Stack gap="xs" component="section" aria-label={t`Connect to ${service.title}`}>
      <Text fw={500}>{t`Connect`}</Text>
      <TextInput
        label={t`Name`}
        description={t`Playbooks and agents refer to the connection by this name.`}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {service.adapter !== 'notify' && (
        <TextInput
          label={t`Base address`}
          placeholder={service.base_url || t`As the service has it`}
          description={
            service.base_url === '' && service.adapter !== 'aws'
              ? t`The description does not say where the service is.`
              : t`Leave it empty to use the address of the description.`
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
          label={t`Authentication`}
          data={ways.map((value) => ({ value, label: WAYS[value]?.label ?? value }))}
          value={way}
          allowDeselect={false}
          onChange={(next) => setWay(next ?? 'none')}
        />
      )}
      {way === 'basic' && (
        <TextInput
          label={t`User name`}
          value={texts.username ?? ''}
          onChange={({ currentTarget }) => set('username', currentTarget.value)}
        />
      )}
      {way === 'client_credentials' && (
        <>
          <TextInput
            label={t`Client id`}
            value={texts.client_id ?? ''}
            onChange={({ currentTarget }) => set('client_id', currentTarget.value.trim())}
          />
          <TextInput
            label={t`Token address`}
            placeholder={service.schemes.find(({ token_url }) => token_url !== '')?.token_url ?? ''}
            value={texts.grant_url ?? ''}
            onChange={({ currentTarget }) => set('grant_url', currentTarget.value.trim())}
          />
        </>
      )}
      {(way === 'client_credentials' || way === 'service_account') && (
        <TextInput
          label={t`Scopes`}
          description={t`Empty: the narrowest that an operation accepts.`}
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
          {t`Connect`}
        </Button>
      </div>
    </Stack>
  );
}
