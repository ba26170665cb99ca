/** Makes a link and shows it: the form differs, what is done with the link does not. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FileLink } from '@/api/types';
import { CopyField } from './CopyField';
import { useFormats } from './format';
import { FormError } from './FormError';
import { FormFooter } from './FormFooter';

export const LIFETIMES = [
  { value: '60', label: t`1 hour` },
  { value: '1440', label: t`1 day` },
  { value: '4320', label: t`3 days` },
  { value: '10080', label: t`7 days` },
];

interface Props {
  title: string;
  made: FileLink | undefined;
  /** The link as it is given to people. */
  address: (address: string) => string;
  error: unknown;
  isPending: boolean;
  minutes: string;
  onMinutes: (minutes: string) => void;
  onSubmit: () => void;
  onClose: () => void;
  /** Below the link. */
  more?: (made: FileLink) => ReactNode;
  children: ReactNode;
}

export function LinkDialog(props: Props) {
  return (
    <Modal opened onClose={props.onClose} title={props.title}>
      {props.made === undefined ? <Asking {...props} /> : <Made {...props} made={props.made} />}
    </Modal>
  );
}

function Asking({ children, minutes, onMinutes, onSubmit, onClose, error, isPending }: Props) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack>
        {children}
        <Select
          label={t`Valid for`}
          data={LIFETIMES}
          value={minutes}
          allowDeselect={false}
          onChange={(value) => onMinutes(value ?? minutes)}
        />
        <FormError error={error} />
        <FormFooter submit={t`Create link`} isPending={isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

function Made({ made, address, more, onClose }: Props & { made: FileLink }) {
  const formats = useFormats();
  return (
    <Stack>
      <CopyField label={t`Link`} value={address(made.address ?? '')} />
      <Text size="sm" c="dimmed">
        {t`Valid until ${formats.dateTime(made.expires_at)}. It ends earlier when you revoke it under Files, or when you lose your role in this project.`}
      </Text>
      {more?.(made)}
      <Group justify="flex-end">
        <Button onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  );
}
