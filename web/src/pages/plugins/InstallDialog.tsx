/** Shows what a wheel declares and asks before it is installed; nothing in the wheel has run by then. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Code, Group, Modal, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { type PluginDeclaration, useInspectPlugin, useInstallPlugin } from '@/api/plugins';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { PartList } from './PartList';
import classes from './plugins.module.css';

interface Props {
  file: File | null;
  onClose: () => void;
}

export function InstallDialog({ file, onClose }: Props) {
  return (
    <Modal opened={file !== null} onClose={onClose} size="lg" title={t`Install a plug-in`}>
      {file !== null && (
        <Inspected key={`${file.name} ${file.lastModified}`} file={file} onClose={onClose} />
      )}
    </Modal>
  );
}

function Inspected({ file, onClose }: { file: File; onClose: () => void }) {
  const project = useProject();
  const { mutate, data, error } = useInspectPlugin(project.id);
  useEffect(() => mutate(file), [file, mutate]);
  if (error) return <ErrorState error={error} />;
  if (!data) return <Skeleton height={200} aria-busy />;
  return <Declaration file={file} declared={data} onClose={onClose} />;
}

interface DeclarationProps {
  file: File;
  declared: PluginDeclaration;
  onClose: () => void;
}

function Declaration({ file, declared, onClose }: DeclarationProps) {
  const project = useProject();
  const install = useInstallPlugin(project.id);
  const [rights, setRights] = useState(false);
  const isClosed = declared.problems.length > 0 || (declared.needs_rights && !rights);
  const onInstall = () =>
    install.mutate(
      { file, sha256: declared.sha256, rights },
      {
        onSuccess: ({ name, version }) => {
          showDone(t`${name} ${version} installed`);
          onClose();
        },
      },
    );
  return (
    <Stack gap="md">
      <div>
        <Text fw={600}>
          {declared.name} {declared.version}
          {declared.installed_version !== null && t` (replaces ${declared.installed_version})`}
        </Text>
        {declared.summary !== '' && <Text size="sm">{declared.summary}</Text>}
      </div>
      <Facts declared={declared} />
      <div>
        <Text size="sm" fw={600}>
          {t`It adds`}
        </Text>
        <PartList parts={declared.parts} withText />
      </div>
      {declared.problems.length > 0 && (
        <Alert color="red" variant="light" title={t`It cannot be installed here`}>
          <ul className={classes.problems}>
            {declared.problems.map(({ pointer, message }) => (
              <li key={pointer + message}>{message}.</li>
            ))}
          </ul>
        </Alert>
      )}
      {declared.needs_rights && declared.problems.length === 0 && (
        <Alert
          color="yellow"
          variant="light"
          title={t`Some of its code runs with the server’s rights`}
        >
          <Text size="sm" mb="xs">
            {t`It can read and change everything that Steward can, in all projects. Install it only if you trust who wrote it.`}
          </Text>
          <Switch
            label={t`I trust this code and let it run with the server’s rights`}
            checked={rights}
            onChange={({ currentTarget }) => setRights(currentTarget.checked)}
          />
        </Alert>
      )}
      <FormError error={install.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button disabled={isClosed} loading={install.isPending} onClick={onInstall}>
          {t`Install ${declared.name}`}
        </Button>
      </Group>
    </Stack>
  );
}

function Facts({ declared }: { declared: PluginDeclaration }) {
  const { bytes } = useFormats();
  const needed = declared.requirements.map(
    ({ text, installed }) => `${text} (${installed ?? t`not installed`})`,
  );
  return (
    <dl className={classes.facts}>
      <dt>{t`Licence`}</dt>
      <dd>{declared.licence || t`not stated`}</dd>
      <dt>{t`SHA-256`}</dt>
      <dd>
        <Code fz="xs">{declared.sha256}</Code>
      </dd>
      <dt>{t`Requires`}</dt>
      <dd>
        {needed.length === 0 ? t`no other packages` : needed.join(', ')}
        {declared.requires_python !== '' && t`; Python ${declared.requires_python}`}
      </dd>
      <dt>{t`Files`}</dt>
      <dd>
        <details>
          <summary>{t`${declared.files.length} files, ${bytes(declared.size)}`}</summary>
          <ul className={classes.files}>
            {declared.files.map(({ path, size }) => (
              <li key={path}>
                <code>{path}</code> {bytes(size)}
              </li>
            ))}
          </ul>
        </details>
      </dd>
    </dl>
  );
}
