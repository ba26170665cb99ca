/** A link by which anyone who has it can send one file, which is then loaded as a dataset. */
import { t } from '@lingui/core/macro';
import { NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldMessages } from '@/api/errors';
import { sendingPage, useMakeUploadLink } from '@/api/links';
import { CodeBlock } from '@/components/CodeBlock';
import { LinkDialog } from '@/components/LinkDialog';

const MEGABYTE = 1_000_000;

interface Props {
  projectId: string;
  onClose: () => void;
}

export default function UploadLinkDialog({ projectId, onClose }: Props) {
  const make = useMakeUploadLink(projectId);
  const [minutes, setMinutes] = useState('1440');
  const [dataset, setDataset] = useState('');
  const [megabytes, setMegabytes] = useState<number | string>(50);
  const mistakes = fieldMessages(make.error);
  return (
    <LinkDialog
      title={t`Let someone upload a file`}
      made={make.data}
      address={sendingPage}
      error={make.error}
      isPending={make.isPending}
      minutes={minutes}
      onMinutes={setMinutes}
      onSubmit={() =>
        make.mutate({
          dataset,
          minutes: Number(minutes),
          max_bytes: Math.round(Number(megabytes) * MEGABYTE),
        })
      }
      onClose={onClose}
      more={({ address }) => (
        <CodeBlock label={t`command`} code={`curl -T FILE ${address ?? ''}`} />
      )}
    >
      <Text size="sm">
        {t`Anyone who has the link can send one file without an account. Steward loads it in your name. You can undo that.`}
      </Text>
      <TextInput
        label={t`Dataset`}
        description={t`The file becomes this dataset, or its next version.`}
        maxLength={180}
        value={dataset}
        error={mistakes.dataset}
        data-autofocus
        onChange={(event) => setDataset(event.currentTarget.value)}
      />
      <NumberInput
        label={t`Largest file in MB`}
        min={1}
        value={megabytes}
        error={mistakes.max_bytes}
        onChange={setMegabytes}
      />
    </LinkDialog>
  );
}
