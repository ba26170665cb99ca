/** Signs in with e-mail and password, with a provider, or at once with a one-time link. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Loader, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { ApiError } from '@/api/errors';
import { sessionQuery, useSignIn } from '@/api/session';
import { safeNext } from '@/app/search';
import { FormError } from '@/components/FormError';
import { VisitorPage } from '@/components/VisitorPage';
import { SignOnButtons, SignOnProblem } from './SignOnButtons';

const PasskeyButton = lazy(() => import('./PasskeyButton'));

export default function SignInPage() {
  const search: { link?: string; next?: string; problem?: string } = useSearch({ strict: false });
  const [link] = useState(search.link);
  const navigate = useNavigate();
  const proceed = () => void navigate({ href: safeNext(search.next), replace: true });
  return (
    <VisitorPage title={t`Sign in to Steward`}>
      {link === undefined ? (
        <>
          {search.problem !== undefined && <SignOnProblem code={search.problem} />}
          <PasswordForm onDone={proceed} />
          <Suspense>
            <PasskeyButton onDone={proceed} />
          </Suspense>
          <SignOnButtons next={safeNext(search.next)} />
          {search.next !== undefined && <AlreadySignedIn onDone={proceed} />}
        </>
      ) : (
        <LinkSignIn link={link} onDone={proceed} />
      )}
    </VisitorPage>
  );
}

/** Someone sent here may be signed in after all: another tab may have begun a new session. */
function AlreadySignedIn({ onDone }: { onDone: () => void }) {
  const { data: session } = useQuery(sessionQuery);
  useEffect(() => {
    if (session) onDone();
  });
  return null;
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const signIn = useSignIn();
  // Once the server has asked for a code, it is asked for until the person is in.
  const [asksCode, setAsksCode] = useState(false);
  const form = useForm({
    initialValues: { email: '', password: '', code: '' },
    validate: {
      email: (email) => (email.includes('@') ? null : t`Enter your e-mail address.`),
      password: (password) => (password === '' ? t`Enter your password.` : null),
    },
  });
  const submit = form.onSubmit(({ email, password, code }) =>
    signIn.mutate(asksCode ? { email, password, code } : { email, password }, {
      onSuccess: onDone,
      onError: (error) => {
        if (error instanceof ApiError && error.code === 'code-needed') setAsksCode(true);
      },
    }),
  );
  const isFirstAsked =
    signIn.error instanceof ApiError && signIn.error.code === 'code-needed' && asksCode;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label={t`E-mail`}
          type="email"
          autoComplete="username"
          // eslint-disable-next-line jsx-a11y/no-autofocus -- the page has nothing else to do
          autoFocus
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t`Password`}
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
        {asksCode && (
          <TextInput
            label={t`Code`}
            description={t`From the app on your phone, or a recovery code.`}
            autoComplete="one-time-code"
            // eslint-disable-next-line jsx-a11y/no-autofocus -- it is what is missing
            autoFocus
            {...form.getInputProps('code')}
          />
        )}
        {!isFirstAsked && <FormError error={signIn.error} />}
        <Button type="submit" fullWidth loading={signIn.isPending}>
          {t`Sign in`}
        </Button>
        <Text size="xs" c="dimmed">
          <Trans>
            No password yet? Whoever runs Steward can print a link that signs you in:{' '}
            <code>steward user link you@example.com</code>
          </Trans>
        </Text>
      </Stack>
    </form>
  );
}

/** The link works once, so it is used once and leaves the address before anyone can copy it. */
function LinkSignIn({ link, onDone }: { link: string; onDone: () => void }) {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const { mutate } = signIn;
  const started = useRef(false);
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    void navigate({
      to: '.',
      search: (previous: Record<string, unknown>) => ({ ...previous, link: undefined }),
      replace: true,
    });
    mutate({ link }, { onSuccess: onDone });
  }, [link, mutate, navigate, onDone]);

  if (signIn.isError) {
    return (
      <Stack>
        <FormError error={signIn.error} />
        <PasswordForm onDone={onDone} />
      </Stack>
    );
  }
  return (
    <Stack align="center" py="lg" role="status">
      <Loader size="sm" />
      <Text size="sm" c="dimmed">
        {t`Signing you in`}
      </Text>
    </Stack>
  );
}
