/** Sets or changes the password. */
import { t } from '@lingui/core/macro';
import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { fieldMessages } from '@/api/errors';
import { useChangePassword } from '@/api/me';
import type { User } from '@/api/types';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';

const SHORTEST = 10;

export function PasswordForm({ user }: { user: User }) {
  const change = useChangePassword();
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (value) =>
        user.has_password && value === '' ? t`Enter your current password.` : null,
      new_password: (value) =>
        value.length < SHORTEST
          ? t`Use at least ${SHORTEST} characters; a few words are fine.`
          : null,
    },
  });
  const submit = form.onSubmit(({ current_password, new_password }) =>
    change.mutate(
      { new_password, ...(user.has_password ? { current_password } : {}) },
      {
        onSuccess: () => {
          form.reset();
          showDone(user.has_password ? t`Password changed` : t`Password set`);
        },
        onError: (error) => form.setErrors(fieldMessages(error)),
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw="26rem">
        {/* Lets password managers know whose password this is. */}
        <input type="email" autoComplete="username" value={user.email} readOnly hidden />
        {user.has_password && (
          <PasswordInput
            label={t`Current password`}
            autoComplete="current-password"
            {...form.getInputProps('current_password')}
          />
        )}
        <PasswordInput
          label={t`New password`}
          autoComplete="new-password"
          {...form.getInputProps('new_password')}
        />
        <FormError error={change.error} />
        <Group>
          <Button type="submit" loading={change.isPending}>
            {user.has_password ? t`Change password` : t`Set password`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
