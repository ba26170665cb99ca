/** Messages on this device about what waits: the browser's subscription, and the devices the server knows. */
import { t } from '@lingui/core/macro';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { meKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

export type Push = Answer<components['schemas']['PushOut']>;
export type PushDevice = Push['devices'][number];

const key = [...meKey, 'push'] as const;

/** Browsers know them on encrypted connections or one's own machine; on iPhones, in an installed app only. */
export function isPushPossible(): boolean {
  return (
    'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis
  );
}

export const pushQuery = queryOptions({
  queryKey: key,
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/push', { signal })),
});

export function useAddPushDevice() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ name, publicKey }: { name: string; publicKey: string }) => {
      const { endpoint, keys } = await subscription(publicKey);
      const { p256dh = '', auth = '' } = keys ?? {};
      const body = { name, endpoint: endpoint ?? '', keys: { p256dh, auth } };
      return bodyOf(api.POST('/api/v1/me/push', { body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
}

export function useRemovePushDevice() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (device: PushDevice) => {
      await api.DELETE('/api/v1/me/push/{device_id}', {
        params: { path: { device_id: device.id } },
      });
      if (device.current) await unsubscribe();
    },
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
}

async function subscription(publicKey: string): Promise<PushSubscriptionJSON> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error(
      t`The browser does not allow notifications from this address. Allow them in the settings of the site, then try again.`,
    );
  }
  await navigator.serviceWorker.register('/sw.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  try {
    const options = { userVisibleOnly: true, applicationServerKey: publicKey };
    return (await pushManager.subscribe(options)).toJSON();
  } catch (error) {
    throw new Error(
      t`The browser could not reach its push service. Check the connection of this device and try again.`,
      { cause: error },
    );
  }
}

async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration('/');
  const found = await registration?.pushManager.getSubscription();
  await found?.unsubscribe();
}
