/** Signing in to an MCP server: how it stands, the way to the authorization server, and back from it. */
import { t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { CircleUser, CircleUserRound, KeyRound, UserX } from 'lucide-react';
import { useEffect } from 'react';
import { type Connection, useSignOutOfServer, useStartSignIn } from '@/api/connections';
import { Chip } from '@/components/Chip';
import { useFormats } from '@/components/format';
import { showToast } from '@/components/toasts';
import { showDone, showFailure } from '@/components/undo';
import { useSearchParam } from '@/components/use-search-param';
import { outcomeWords } from './sign-in-words';

const LOOKS = {
  signed_in: { word: t`Signed in`, icon: CircleUser, tone: 'good' },
  signed_out: { word: t`No one is signed in`, icon: CircleUserRound, tone: 'wait' },
  ended: { word: t`Sign-in ended`, icon: UserX, tone: 'bad' },
  elsewhere: { word: t`Signed in elsewhere`, icon: UserX, tone: 'bad' },
} as const;
const OF_CLIENT = {
  word: t`Signs in by itself`,
  icon: KeyRound,
  tone: 'neutral',
} as const;

/** Whether a person must act before the connection works. */
export function needsSignIn({ sign_in }: Connection): boolean {
  return sign_in?.mode === 'person' && sign_in.state !== 'signed_in';
}

export function SignInStatus({ connection }: { connection: Connection }) {
  const formats = useFormats();
  const { sign_in } = connection;
  if (!sign_in) return null;
  const look = sign_in.mode === 'client' ? OF_CLIENT : LOOKS[sign_in.state];
  const rights = sign_in.scope === '' ? '' : t`; rights: ${sign_in.scope}`;
  const at = sign_in.at === null ? '' : t`since ${formats.dateTime(sign_in.at)}`;
  return (
    <div>
      <Chip
        {...look}
        title={sign_in.issuer === '' ? undefined : t`At ${sign_in.issuer}${rights}`}
      />
      {at !== '' && sign_in.state === 'signed_in' && (
        <Text span size="xs" c="dimmed" ml={6}>
          {at}
        </Text>
      )}
      {sign_in.state === 'elsewhere' && (
        <Text size="xs" c="dimmed">
          {t`The address has changed since; tokens are never sent to another one.`}
        </Text>
      )}
    </div>
  );
}

interface ButtonProps {
  projectId: string;
  connection: Connection;
}

export function SignInButton({ projectId, connection }: ButtonProps) {
  const start = useStartSignIn(projectId);
  const leave = useSignOutOfServer(projectId);
  const { id, name, sign_in } = connection;
  if (sign_in?.mode !== 'person') return null;
  if (sign_in.state === 'signed_in')
    return (
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={t`Sign out of ${name}`}
        loading={leave.isPending}
        onClick={() =>
          leave.mutate(id, {
            onSuccess: () => showDone(t`Signed out of ${name}; its tokens are forgotten`),
            onError: showFailure,
          })
        }
      >
        {t`Sign out`}
      </Button>
    );
  return (
    <Button
      size="compact-sm"
      aria-label={t`Sign in to ${name}`}
      loading={start.isPending || start.isSuccess}
      onClick={() =>
        start.mutate(id, {
          onSuccess: ({ url }) => window.location.assign(url),
          onError: showFailure,
        })
      }
    >
      {t`Sign in`}
    </Button>
  );
}

/** Tells what came of a sign-in when the person is back, once. */
export function useSignInOutcome(known: Connection[]): void {
  const [id] = useSearchParam('signed_in');
  const [outcome] = useSearchParam('outcome');
  const navigate = useNavigate();
  const name = known.find((each) => each.id === id)?.name;
  useEffect(() => {
    if (id === null || outcome === null || name === undefined) return;
    if (outcome === 'done') showDone(t`Signed in to ${name}`);
    else
      showToast({
        tone: 'failure',
        shownFor: 15_000,
        title: t`Not signed in to ${name}`,
        message: outcomeWords(outcome),
      });
    void navigate({
      to: '.',
      search: (previous: Record<string, unknown>) => ({
        ...previous,
        signed_in: undefined,
        outcome: undefined,
      }),
      replace: true,
    });
  }, [id, outcome, name, navigate]);
}
