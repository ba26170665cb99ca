/** The account of someone who accepts an invitation. */
import { t } from '@lingui/core/macro';
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { fieldMessages } from '@/api/errors';
import { useSignUp } from '@/api/session';
import { FormError } from '@/components/FormError';

interface Props {
  token: string;
  /** Set when the invitation is for one address only. */
  email: string | null;
  onDone: () => void;
}

/** "mia.lopez@…" is probably Mia Lopez. */
const nameIn = (email: string) =>
  email
    .replace(/@.*/, '')
    .split(/[._+-]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join(' ');

export function SignUpForm({ token, email, onDone }: Props) {
  const signUp = useSignUp();
  const form = useForm({
    initialValues: { name: nameIn(email ?? ''), email: email ?? '', password: '' },
    validate: {
      name: (name) => (name.trim() === '' ? t`Tell your colleagues who you are.` : null),
      email: (address) => (address.includes('@') ? null : t`Enter your e-mail address.`),
      password: (password) => (password === '' ? t`Choose a password.` : null),
    },
  });
  const submit = form.onSubmit((values) =>
    signUp.mutate(
      { token, ...values },
      { onSuccess: onDone, onError: (error) => form.setErrors(fieldMessages(error)) },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput label={t`Your name`} autoComplete="name" {...form.getInputProps('name')} />
        <TextInput
          label={t`E-mail`}
          type="email"
          autoComplete="username"
          readOnly={email !== null}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t`Choose a password`}
          description={t`A few words make a good one.`}
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <FormError error={signUp.error} />
        <Button type="submit" fullWidth loading={signUp.isPending}>
          {t`Join`}
        </Button>
      </Stack>
    </form>
  );
}
