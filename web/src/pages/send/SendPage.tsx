/** Takes one file from a visitor. */
import { t } from '@lingui/core/macro';
import { Alert, Button, FileInput, Stack, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { CircleCheck, Info } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { useSendByLink } from '@/api/links';
import { FormError } from '@/components/FormError';
import { VisitorPage } from '@/components/VisitorPage';

export default function SendPage() {
  const token = useLocation().hash;
  return (
    <VisitorPage title={t`Send a file`}>
      {token === '' ? (
        <Alert color="gray" icon={<Info size={16} aria-hidden />}>
          {t`This link is incomplete. Copy the whole link.`}
        </Alert>
      ) : (
        <Sending token={token} />
      )}
    </VisitorPage>
  );
}

function Sending({ token }: { token: string }) {
  const [file, setFile] = useState<File | null>(null);
  const send = useSendByLink(token);
  if (send.isSuccess) {
    return (
      <Alert color="green" icon={<CircleCheck size={16} aria-hidden />} role="status">
        {t`“${send.data.name}” has arrived. You can close this page.`}
      </Alert>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (file !== null) send.mutate(file);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{t`The person who gave you this link receives the file. It works once.`}</Text>
        <FileInput label={t`File`} placeholder={t`Choose a file`} value={file} onChange={setFile} />
        <FormError error={send.error} />
        <Button type="submit" loading={send.isPending} disabled={file === null}>
          {t`Send`}
        </Button>
      </Stack>
    </form>
  );
}
