/** Sets up the second step that the organisation requires; the rest of the app opens afterwards. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery } from '@/api/session';
import { arePasskeysPossible, passkeysQuery } from '@/api/passkeys';
import { twoStepQuery } from '@/api/two-step';
import type { Session, User } from '@/api/types';
import { useLeave } from '@/app/account';
import { safeNext } from '@/app/search';
import { VisitorPage } from '@/components/VisitorPage';
import { Passkeys } from '../profile/Passkeys';
import { PasswordForm } from '../profile/PasswordForm';
import { TwoStep } from '../profile/TwoStep';
import PasskeyButton from '../sign-in/PasskeyButton';

export default function SecondStepPage() {
  const { next }: { next?: string } = useSearch({ strict: false });
  const { data: session, isPending } = useQuery(sessionQuery);
  return (
    <VisitorPage title={t`Set up your second step`}>
      {isPending ? (
        <Skeleton height={160} aria-busy />
      ) : session ? (
        <SetUp session={session} next={safeNext(next)} />
      ) : (
        <Navigate to="/sign-in" replace />
      )}
    </VisitorPage>
  );
}

function SetUp({ session, next }: { session: Session; next: string }) {
  // As it was when the page opened: the recovery codes stay in sight once the step is set up.
  const [wasDue] = useState(session.second_step_due);
  const leave = useLeave();
  const { data: twoStep } = useQuery(twoStepQuery);
  const { data: passkeys } = useQuery(passkeysQuery);
  if (!wasDue) return <Navigate to="/" replace />;
  const isDone = twoStep?.since != null || !session.second_step_due;
  return (
    <Stack>
      <Text size="sm">
        {t`Your organisation requires two-step sign-in. You can use Steward once this is set up.`}
      </Text>
      {passkeys?.length && !isDone ? (
        // A password alone must not set up another step beside it.
        <>
          <Text size="sm">{t`You have a passkey. Sign in with it.`}</Text>
          {/* A full page load: nothing was fetched for this session so far. */}
          <PasskeyButton onDone={() => globalThis.location.assign(next)} />
        </>
      ) : session.user.has_password ? (
        <SecondSteps user={session.user} />
      ) : (
        <PasswordForm user={session.user} />
      )}
      {isDone ? (
        <Button component="a" href={next}>
          {t`Continue to Steward`}
        </Button>
      ) : (
        <Button variant="default" onClick={leave}>
          {t`Sign out`}
        </Button>
      )}
    </Stack>
  );
}

function SecondSteps({ user }: { user: User }) {
  return (
    <>
      <Title order={2} size="h4">
        {t`With an app on your phone`}
      </Title>
      <Text size="sm">{t`After your password, Steward asks for a code from the app.`}</Text>
      <TwoStep user={user} />
      {arePasskeysPossible() && (
        <>
          <Title order={2} size="h4">
            {t`Or with a passkey`}
          </Title>
          <Text size="sm">
            {t`Your fingerprint, face, PIN or security key. It replaces password and code.`}
          </Text>
          <Passkeys user={user} />
        </>
      )}
    </>
  );
}
