/** Where the person is signed in, and signing out there. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sessionsQuery, useEndOtherSessions, useEndSession } from '@/api/me';
import type { OpenSession } from '@/api/types';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { browserName } from './browser-name';

export function Sessions() {
  const query = useQuery(sessionsQuery);
  const endOthers = useEndOtherSessions();
  if (query.isPending) return <Skeleton height={60} aria-busy />;
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  const onEndOthers = () => {
    endOthers.mutate(undefined, {
      onSuccess: () => {
        showDone(t`Signed out everywhere else`);
      },
      onError: showFailure,
    });
  };
  return (
    <Stack>
      <Stack component="ul" gap="sm" m={0} p={0}>
        {query.data.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Stack>
      <Group>
        <Button
          variant="default"
          disabled={query.data.length < 2}
          loading={endOthers.isPending}
          onClick={onEndOthers}
        >
          {t`Sign out everywhere else`}
        </Button>
      </Group>
    </Stack>
  );
}

function SessionRow({ session }: { session: OpenSession }) {
  const end = useEndSession();
  const name = browserName(session.agent);
  return (
    <Group component="li" justify="space-between" wrap="nowrap">
      <div>
        <Group gap="xs">
          <Text size="sm">{name}</Text>
          {session.current && <Badge variant="light">{t`This browser`}</Badge>}
        </Group>
        <Text size="xs" c="dimmed">
          {session.address !== '' && `${session.address}, `}
          {session.provider === null
            ? t`signed in to Steward `
            : t`signed in with ${session.provider} `}
          <RelativeTime value={session.created_at} />
          {session.used_at !== null && (
            <>
              <Trans>
                , last used <RelativeTime value={session.used_at} />
              </Trans>
            </>
          )}
        </Text>
      </div>
      {!session.current && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          flex="none"
          aria-label={t`Sign out ${name}`}
          loading={end.isPending}
          onClick={() => {
            end.mutate(session.id, { onError: showFailure });
          }}
        >
          {t`Sign out`}
        </Button>
      )}
    </Group>
  );
}
