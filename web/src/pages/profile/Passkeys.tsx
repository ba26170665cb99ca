/** Passkeys of the person: added after the password, listed with their last use, removed. */
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
          To add a passkey, open Steward at an https address with a name, or at http://localhost on
          your own machine. You need a current browser.
        </Text>
      ) : isAdding ? (
        <AddForm user={user} onDone={() => setIsAdding(false)} />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setIsAdding(true)}>
            Add a passkey
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
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      password: (given) =>
        user.has_password && given === '' ? 'Enter your current password.' : null,
    },
  });
  const submit = form.onSubmit(({ name, password }) =>
    add.mutate(
      { name, password: user.has_password ? password : null },
      {
        onSuccess: () => {
          showDone('Passkey added');
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
          label="Name of the passkey"
          description="So that you know later which device it is."
          {...form.getInputProps('name')}
        />
        {user.has_password && (
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            {...form.getInputProps('password')}
          />
        )}
        <FormError error={add.error} />
        <Group>
          <Button type="submit" loading={add.isPending}>
            Continue
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
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
      onSuccess: () => showDone(`Passkey “${passkey.name}” removed`),
      onError: showFailure,
    });
  return (
    <Group component="li" justify="space-between">
      <div>
        <Text size="sm">{passkey.name}</Text>
        <Text size="xs" c="dimmed">
          Added <RelativeTime value={passkey.created_at} />
          {passkey.last_used_at === null ? (
            ', not used yet'
          ) : (
            <>
              , last used <RelativeTime value={passkey.last_used_at} />
            </>
          )}
        </Text>
      </div>
      {isAsked ? (
        <Group gap="xs">
          <Text size="sm">Remove it? This cannot be undone.</Text>
          <Button size="compact-sm" color="red" loading={remove.isPending} onClick={onRemove}>
            Remove “{passkey.name}”
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setIsAsked(false)}>
            Keep it
          </Button>
        </Group>
      ) : (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={`Remove ${passkey.name}`}
          onClick={() => setIsAsked(true)}
        >
          Remove
        </Button>
      )}
    </Group>
  );
}
