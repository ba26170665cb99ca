/** Tokens with their state; revoking can be undone for a while. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { roleName } from '@/api/roles';
import { tokensQuery, useRestoreToken, useRevokeToken } from '@/api/tokens';
import type { Token } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { offerUndo, showFailure } from '@/components/undo';
import { isRestorable, tokenState } from './token-state';

interface Props {
  projectId: string;
  showAll: boolean;
  onCreate: () => void;
}

export function TokenTable({ projectId, showAll, onCreate }: Props) {
  const query = useInfiniteQuery(tokensQuery(projectId));
  const revoke = useRevokeToken(projectId);
  const restore = useRestoreToken(projectId);
  const onRevoke = (token: Token) => {
    const offer = () =>
      offerUndo({
        message: t`“${token.name}” revoked`,
        undo: () => restore.mutateAsync(token.id),
        undone: t`“${token.name}” works again`,
      });
    revoke.mutate(token.id, { onSuccess: offer, onError: showFailure });
  };
  const onRestore = (token: Token) => restore.mutate(token.id, { onError: showFailure });

  const columns: Column<Token>[] = [
    { id: 'name', header: t`Name`, cell: (token) => <NameAndPrefix token={token} /> },
    { id: 'role', header: t`Role`, width: '7rem', cell: ({ role }) => roleName(role) },
    {
      id: 'used',
      header: t`Last used`,
      width: '9rem',
      hideBelow: 'sm',
      cell: ({ last_used_at }) =>
        last_used_at === null ? (
          <Text size="sm" c="dimmed">
            {t`never`}
          </Text>
        ) : (
          <RelativeTime value={last_used_at} />
        ),
    },
    {
      id: 'expires',
      header: t`Expires`,
      width: '9rem',
      hideBelow: 'md',
      cell: ({ expires_at }) => <RelativeTime value={expires_at} />,
    },
    {
      id: 'action',
      header: t`Revoke or restore`,
      quietHeader: true,
      align: 'end',
      width: '6rem',
      cell: (token) => <TokenAction token={token} onRevoke={onRevoke} onRestore={onRestore} />,
    },
  ];
  return (
    <DataTable
      label={t`API tokens`}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      filter={(token) => showAll || tokenState(token) === 'active'}
      isFaded={(token) => tokenState(token) !== 'active'}
      empty={
        <EmptyState
          icon={KeyRound}
          title={t`No active tokens`}
          action={
            <Button variant="default" mt="xs" onClick={onCreate}>
              {t`Create token`}
            </Button>
          }
        >
          {t`Make one for each program that uses Steward, so that you can revoke them one by one.`}
        </EmptyState>
      }
    />
  );
}

function NameAndPrefix({ token }: { token: Token }) {
  const state = tokenState(token);
  return (
    <div>
      <Group gap={6}>
        <Text size="sm" fw={500}>
          {token.name}
        </Text>
        {state !== 'active' && (
          <Badge size="xs" variant="default">
            {state}
          </Badge>
        )}
      </Group>
      <Code fz="xs">{token.prefix}…</Code>
    </div>
  );
}

interface ActionProps {
  token: Token;
  onRevoke: (token: Token) => void;
  onRestore: (token: Token) => void;
}

function TokenAction({ token, onRevoke, onRestore }: ActionProps) {
  const revoked = tokenState(token) === 'revoked';
  if (revoked && !isRestorable(token)) return null;
  const word = revoked ? t`Restore` : t`Revoke`;
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      aria-label={`${word} ${token.name}`}
      onClick={() => (revoked ? onRestore(token) : onRevoke(token))}
    >
      {word}
    </Button>
  );
}
