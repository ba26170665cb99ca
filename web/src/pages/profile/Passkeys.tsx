/** Passkeys of the person: added after the password, listed with their last use, removed. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldMessages } from '@/api/errors';
import {
  arePasskeysPossible,
  passkeysQuery,
  useAddPasskey,
  useRemovePasskey,
} from '@/api/passkeys';
import type { Passkey, User } from '@/api/types';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { browserName } from './browser-name';

export function Passkeys({ user }: { user: User }) {
  const query = useQuery(passkeysQuery);
  const [isAdding, setIsAdding] = useState(false);
  if (query.isPending) return <Skeleton height={60} aria-busy />;
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  return (
    <Stack>
      {query.data.length > 0 && (
        <Stack component="ul" gap="sm" m={0} p={0}>
          {query.data.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </Stack>
      )}
      {!arePasskeysPossible() ? (
        <Text size="sm">
          {t`To add a passkey, open Steward at an https address with a name, or at http://localhost on your own machine. You need a current browser.`}
        </Text>
      ) : isAdding ? (
        <AddForm user={user} onDone={() => setIsAdding(false)} />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setIsAdding(true)}>
            {t`Add a passkey`}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function AddForm({ user, onDone }: { user: User; onDone: () => void }) {
  const add = useAddPasskey();
  const form = useForm({
    initialValues: { name: browserName(navigator.userAgent), password: '' },
    validate: {
      name: (name) => (name.trim() === '' ? t`Enter a name.` : null),
      password: (given) =>
        user.has_password && given === '' ? t`Enter your current password.` : null,
    },
  });
  const submit = form.onSubmit(({ name, password }) =>
    add.mutate(
      { name, password: user.has_password ? password : null },
      {
        onSuccess: () => {
          showDone(t`Passkey added`);
          onDone();
        },
        onError: (error) => form.setErrors(fieldMessages(error)),
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw="26rem">
        <TextInput
          label={t`Name of the passkey`}
          description={t`So that you know later which device it is.`}
          {...form.getInputProps('name')}
        />
        {user.has_password && (
          <PasswordInput
            label={t`Your password`}
            autoComplete="current-password"
            {...form.getInputProps('password')}
          />
        )}
        <FormError error={add.error} />
        <Group>
          <Button type="submit" loading={add.isPending}>
            {t`Continue`}
          </Button>
          <Button variant="default" onClick={onDone}>
            {t`Cancel`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const remove = useRemovePasskey();
  const [isAsked, setIsAsked] = useState(false);
  const onRemove = () =>
    remove.mutate(passkey.id, {
      onSuccess: () => showDone(t`Passkey “${passkey.name}” removed`),
      onError: showFailure,
    });
  return (
    <Group component="li" justify="space-between">
      <div>
        <Text size="sm">{passkey.name}</Text>
        <Text size="xs" c="dimmed">
          <Trans>
            Added <RelativeTime value={passkey.created_at} />
          </Trans>
          {passkey.last_used_at === null ? (
            t`, not used yet`
          ) : (
            <>
              <Trans>
                , last used <RelativeTime value={passkey.last_used_at} />
              </Trans>
            </>
          )}
        </Text>
      </div>
      {isAsked ? (
        <Group gap="xs">
          <Text size="sm">{t`Remove it? This cannot be undone.`}</Text>
          <Button size="compact-sm" color="red" loading={remove.isPending} onClick={onRemove}>
            {t`Remove “${passkey.name}”`}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setIsAsked(false)}>
            {t`Keep it`}
          </Button>
        </Group>
      ) : (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={t`Remove ${passkey.name}`}
          onClick={() => setIsAsked(true)}
        >
          {t`Remove`}
        </Button>
      )}
    </Group>
  );
}
