/** Shows what an invitation offers; a newcomer signs up, a signed-in person joins with one press. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Info } from 'lucide-react';
import { invitationQuery } from '@/api/members';
import { ROLE_DESCRIPTIONS, roleName } from '@/api/roles';
import { sessionQuery, useJoin } from '@/api/session';
import type { InvitationLookup, Session } from '@/api/types';
import { projectPath } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { VisitorPage } from '@/components/VisitorPage';
import { SignUpForm } from './SignUpForm';

export default function InvitePage() {
  const { token }: { token?: string } = useSearch({ strict: false });
  if (token === undefined) {
    return (
      <VisitorPage title={t`Invitation`}>
        <Alert color="gray" icon={<Info size={16} aria-hidden />}>
          {t`This link is incomplete. Copy the whole link from your invitation.`}
        </Alert>
      </VisitorPage>
    );
  }
  return <Invitation token={token} />;
}

function Invitation({ token }: { token: string }) {
  const offer = useQuery(invitationQuery(token));
  const session = useQuery(sessionQuery);
  if (offer.isError) {
    return (
      <VisitorPage title={t`Invitation`}>
        <ErrorState error={offer.error} retry={() => void offer.refetch()} />
        <Text size="sm" c="dimmed" ta="center">
          {t`Ask the person who invited you for a new link.`}
        </Text>
      </VisitorPage>
    );
  }
  if (offer.isPending || session.isPending) {
    return (
      <VisitorPage title={t`Invitation`}>
        <Stack aria-busy>
          <Skeleton height={14} width="80%" />
          <Skeleton height={14} width="60%" />
          <Skeleton height={34} />
        </Stack>
      </VisitorPage>
    );
  }
  return (
    <VisitorPage title={t`Join ${offer.data.project_name}`}>
      <Stack>
        <Offer offer={offer.data} />
        {session.data ? (
          <JoinAs token={token} session={session.data} offer={offer.data} />
        ) : (
          <NewPerson token={token} offer={offer.data} />
        )}
      </Stack>
    </VisitorPage>
  );
}

function Offer({ offer }: { offer: InvitationLookup }) {
  return (
    <Text size="sm">
      <Trans>
        {offer.invited_by} invites you as <strong>{roleName(offer.role)}</strong>:{' '}
        {ROLE_DESCRIPTIONS[offer.role].toLowerCase()}.{' '}
        {offer.playbook_name !== null && (
          <>
            <Trans>
              The playbook <strong>{offer.playbook_name}</strong> opens when you have joined.
            </Trans>{' '}
          </>
        )}
        The invitation is good until <FormattedDate value={offer.expires_at} />.
      </Trans>
    </Text>
  );
}

/** Leads to the playbook that the invitation names, or else to the start. */
function useEnter({ project_id, playbook_id }: InvitationLookup) {
  const navigate = useNavigate();
  const to = playbook_id === null ? '/' : projectPath(project_id, 'playbooks', playbook_id);
  return () => void navigate({ to, replace: true });
}

interface JoinProps {
  token: string;
  session: Session;
  offer: InvitationLookup;
}

function JoinAs({ token, session, offer }: JoinProps) {
  const join = useJoin();
  const enter = useEnter(offer);
  return (
    <Stack>
      <FormError error={join.error} />
      <Button
        fullWidth
        loading={join.isPending}
        onClick={() => join.mutate(token, { onSuccess: enter })}
      >
        {t`Join as ${session.user.name || session.user.email}`}
      </Button>
    </Stack>
  );
}

function NewPerson({ token, offer }: { token: string; offer: InvitationLookup }) {
  const enter = useEnter(offer);
  const back = `/invite?token=${encodeURIComponent(token)}`;
  return (
    <Stack>
      <SignUpForm token={token} email={offer.email} onDone={enter} />
      <Text size="sm" c="dimmed">
        <Trans>
          Already have an account?{' '}
          <Anchor href={`/sign-in?next=${encodeURIComponent(back)}`} size="sm">
            Sign in first
          </Anchor>
        </Trans>
      </Text>
    </Stack>
  );
}
