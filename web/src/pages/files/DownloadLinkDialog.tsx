/** A link by which anyone who has it can fetch one file. */
import { t } from '@lingui/core/macro';
import { Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { fileName } from '@/api/files';
import { useMakeDownloadLink } from '@/api/links';
import { LinkDialog } from '@/components/LinkDialog';

interface Props {
  projectId: string;
  file: string;
  onClose: () => void;
}

export function DownloadLinkDialog({ projectId, file, onClose }: Props) {
  const make = useMakeDownloadLink(projectId);
  const [minutes, setMinutes] = useState('1440');
  const [once, setOnce] = useState(false);
  return (
    <LinkDialog
      title={t`Copy download link`}
      made={make.data}
      address={(address) => address}
      error={make.error}
      isPending={make.isPending}
      minutes={minutes}
      onMinutes={setMinutes}
      onSubmit={() => make.mutate({ file, minutes: Number(minutes), single_use: once })}
      onClose={onClose}
    >
      <Text size="sm">
        {t`Anyone who has the link can download “${fileName(file)}” without an account.`}
      </Text>
      <Switch
        label={t`It works only once`}
        description={t`Some chat programs open links to show a preview. That uses up the link.`}
        checked={once}
        onChange={(event) => setOnce(event.currentTarget.checked)}
      />
    </LinkDialog>
  );
}
