/** Asks before records are left out: how many, and whether that is meant. */
import { t } from '@lingui/core/macro';
import { Alert, Switch, Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { Inspection } from '@/api/uploads';
import { useFormats } from '@/components/format';

const SHARE_ALLOWED = 0.01;

/** Whether so many of the records looked at would be left out that a person has to agree. */
export function rejectsMany({ would_reject, records_seen }: Inspection): boolean {
  return would_reject > records_seen * SHARE_ALLOWED;
}

interface Props {
  inspection: Inspection;
  accepted: boolean;
  disabled: boolean;
  onAccept: (accepted: boolean) => void;
}

export function Rejects({ inspection, accepted, disabled, onAccept }: Props) {
  const formats = useFormats();
  const { would_reject, records_seen } = inspection;
  return (
    <Alert role="alert" color="red" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      <Stack gap="xs">
        {would_reject > 0 && (
          <Text size="sm">
            {t`${formats.number(would_reject)} of ${formats.number(records_seen)} records looked at do not fit and would be left out. Change a type or choose another reading, or load the others only.`}
          </Text>
        )}
        <Switch
          label={t`Load the other records only. Those left out are listed with the reasons.`}
          checked={accepted}
          disabled={disabled}
          onChange={({ currentTarget: { checked } }) => onAccept(checked)}
        />
      </Stack>
    </Alert>
  );
}
