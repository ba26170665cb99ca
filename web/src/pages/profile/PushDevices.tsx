/** Devices that are told what waits for the person: this one is added here, any is removed. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  isPushPossible,
  type PushDevice,
  pushQuery,
  useAddPushDevice,
  useRemovePushDevice,
} from '@/api/push';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { browserName } from './browser-name';

export function PushDevices() {
  const query = useQuery(pushQuery);
  if (query.isPending) return <Skeleton height={60} aria-busy />;
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  const { devices, public_key: publicKey } = query.data;
  return (
    <Stack>
      {devices.length > 0 && (
        <Stack component="ul" gap="sm" m={0} p={0}>
          {devices.map((device) => (
            <DeviceRow key={device.id} device={device} />
          ))}
        </Stack>
      )}
      {publicKey === null ? (
        <Text size="sm">{t`An administrator has switched notifications on devices off.`}</Text>
      ) : !isPushPossible() ? (
        <Text size="sm">
          {t`To get notifications on this device, open Steward at an https address. On an iPhone or iPad, first add it to the home screen.`}
        </Text>
      ) : (
        !devices.some(({ current }) => current) && <AddThisDevice publicKey={publicKey} />
      )}
    </Stack>
  );
}

function AddThisDevice({ publicKey }: { publicKey: string }) {
  const add = useAddPushDevice();
  const onAdd = () =>
    add.mutate(
      { name: browserName(navigator.userAgent), publicKey },
      { onSuccess: () => showDone(t`This device gets notifications`) },
    );
  return (
    <Stack gap="xs">
      <FormError error={add.error} />
      <Group>
        <Button variant="default" loading={add.isPending} onClick={onAdd}>
          {t`Notify me on this device`}
        </Button>
      </Group>
    </Stack>
  );
}

function DeviceRow({ device }: { device: PushDevice }) {
  const remove = useRemovePushDevice();
  const onRemove = () =>
    remove.mutate(device, {
      onSuccess: () => showDone(t`“${device.name}” gets no more notifications`),
      onError: showFailure,
    });
  return (
    <Group component="li" justify="space-between">
      <div>
        <Group gap="xs">
          <Text size="sm">{device.name}</Text>
          {device.current && <Badge variant="light">{t`This browser`}</Badge>}
        </Group>
        <Text size="xs" c="dimmed">
          <Trans>
            Added <RelativeTime value={device.created_at} />
          </Trans>
        </Text>
      </div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={t`Stop notifications on ${device.name}`}
        loading={remove.isPending}
        onClick={onRemove}
      >
        {t`Stop`}
      </Button>
    </Group>
  );
}
