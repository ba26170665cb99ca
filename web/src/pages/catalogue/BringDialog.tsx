/** Installs a service from a description in a file or at an address. */
import { t } from '@lingui/core/macro';
import { Button, FileInput, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useInstall } from '@/api/catalogue';
import { useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';

interface Props {
  opened: boolean;
  onClose: () => void;
  onInstalled: (service: string) => void;
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);

/** As text where it is text, otherwise as the bytes that it has. */
async function contentOf(file: File): Promise<{ text: string } | { base64: string }> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!bytes.subarray(0, 64).some((each) => each < 9)) return { text: await file.text() };
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return { base64: btoa(parts.join('')) };
}

export function BringDialog({ opened, onClose, onInstalled }: Props) {
  const project = useProject();
  const install = useInstall(project.id);
  const [file, setFile] = useState<File | null>(null);
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const chosen = name || plain(file?.name.replace(/\.[a-z]+$/i, '') ?? '');
  const ready = chosen !== '' && (file !== null || url !== '');
  const onInstall = async () => {
    const from = file === null ? { url } : await contentOf(file);
    install.mutate(
      { name: chosen, ...from },
      {
        onSuccess: (made) => {
          showDone(t`${made.title} installed with ${made.operations} operations`);
          onClose();
          setFile(null);
          setUrl('');
          setName('');
          onInstalled(made.name);
        },
        onError: showFailure,
      },
    );
  };
  return (
    <Modal opened={opened} onClose={onClose} title={t`Install a service from its description`}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t`OpenAPI 3, Swagger 2, a Google discovery document, a GraphQL schema or gRPC descriptors, up to 50 MB. You can also give the address of a GraphQL API or a gRPC server (grpcs://host:port): Steward asks it to describe itself. Steward keeps the description with its hash and calls nothing else until you connect.`}
        </Text>
        <FileInput
          label={t`File`}
          placeholder={t`Choose a file`}
          value={file}
          clearable
          disabled={url !== ''}
          onChange={setFile}
        />
        <TextInput
          label={t`Or address`}
          description={t`Of a description, a GraphQL API or a gRPC server.`}
          placeholder="https://api.example.com/openapi.json"
          value={url}
          disabled={file !== null}
          onChange={({ currentTarget }) => setUrl(currentTarget.value.trim())}
        />
        <TextInput
          label={t`Name`}
          description={t`Small letters, digits and hyphens. The project knows the service by it.`}
          placeholder={chosen || 'my-service'}
          value={name}
          onChange={({ currentTarget }) => setName(plain(currentTarget.value))}
        />
        <Button disabled={!ready} loading={install.isPending} onClick={() => void onInstall()}>
          {t`Install`}
        </Button>
      </Stack>
    </Modal>
  );
}
