/** Invitations that nobody has accepted yet. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Mail } from 'lucide-react';
import { projectKey } from '@/api/keys';
import { dropFromList } from '@/api/lists';
import { invitationsQuery, usePersonName, useRevokeInvitation } from '@/api/members';
import { roleName } from '@/api/roles';
import type { Invitation } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { Section } from '@/components/Section';
import { offerUndo, showFailure } from '@/components/undo';
import type { InvitationDraft } from './MembersPage';

interface Props {
  projectId: string;
  onInviteAgain: (draft: InvitationDraft) => void;
}

const describe = ({ email }: Invitation) => email ?? t`Anyone with the link`;

export function InvitationList({ projectId, onInviteAgain }: Props) {
  const client = useQueryClient();
  const query = useInfiniteQuery(invitationsQuery(projectId));
  const revoke = useRevokeInvitation(projectId);
  const nameOf = usePersonName(projectId);

  const onRevoke = (invitation: Invitation) => {
    const { id, role, email, playbook_id } = invitation;
    // The link cannot be brought back, it is known to its holder only: a new one takes its place.
    const offer = () =>
      offerUndo({
        message: t`Invitation for ${email ?? t`one ${role}`} revoked`,
        label: t`Invite again`,
        undo: () => {
          onInviteAgain({ role, email: email ?? '', playbook: playbook_id ?? '' });
          return Promise.resolve();
        },
      });
    dropFromList<Invitation>(client, projectKey(projectId, 'invitation'), (item) => item.id === id);
    revoke.mutate(id, { onSuccess: offer, onError: showFailure });
  };

  const columns: Column<Invitation>[] = [
    {
      id: 'for',
      header: t`For`,
      cell: (invitation) => (
        <div>
          <Text size="sm">{describe(invitation)}</Text>
          <Text size="xs" c="dimmed">
            <Trans>
              Invited by {nameOf(invitation.created_by) ?? t`a former member`}{' '}
              <RelativeTime value={invitation.created_at} />
            </Trans>
          </Text>
        </div>
      ),
    },
    { id: 'role', header: t`Role`, width: '11rem', cell: ({ role }) => roleName(role) },
    {
      id: 'expires',
      header: t`Expires`,
      width: '10rem',
      hideBelow: 'md',
      cell: ({ expires_at }) => <RelativeTime value={expires_at} />,
    },
    {
      id: 'revoke',
      header: t`Revoke`,
      quietHeader: true,
      align: 'end',
      width: '6rem',
      cell: (invitation) => (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={t`Revoke the invitation for ${describe(invitation)}`}
          onClick={() => onRevoke(invitation)}
        >
          {t`Revoke`}
        </Button>
      ),
    },
  ];
  return (
    <Section title={t`Open invitations`}>
      <DataTable
        label={t`Open invitations`}
        columns={columns}
        query={query}
        skeletonRows={1}
        rowKey={({ id }) => id}
        filter={({ accepted_at }) => accepted_at === null}
        empty={
          <EmptyState icon={Mail} picture="list" title={t`No open invitations`}>
            {t`An invitation is a link. The person who opens it joins the project with the role you chose.`}
          </EmptyState>
        }
      />
    </Section>
  );
}
