/** The members; admins change roles in place and remove people, both with undo. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Group, Text, Tooltip } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { projectKey } from '@/api/keys';
import { dropFromList } from '@/api/lists';
import { membersQuery, useRemoveMember, useSetMemberRole } from '@/api/members';
import { roleAtLeast, roleName, rolesUpTo } from '@/api/roles';
import { useSession } from '@/api/session';
import type { Member, ProjectRef, Role } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { RoleSelect } from '@/components/RoleSelect';
import { offerUndo, showFailure } from '@/components/undo';

/** Nobody changes someone above themselves, nor a role that comes from the organisation. */
export function mayChange(own: Role, member: Pick<Member, 'role' | 'inherited'>): boolean {
  return roleAtLeast(own, 'admin') && !member.inherited && roleAtLeast(own, member.role);
}

function useMemberActions(projectId: string) {
  const client = useQueryClient();
  const setRole = useSetMemberRole(projectId);
  const remove = useRemoveMember(projectId);
  const restore = ({ user_id: userId, role }: Member) => setRole.mutateAsync({ userId, role });

  return {
    changeRole: (member: Member, role: Role) => {
      const offer = () =>
        offerUndo({
          message: t`${member.name} is now ${roleName(role)}`,
          undo: () => restore(member),
        });
      setRole.mutate({ userId: member.user_id, role }, { onSuccess: offer, onError: showFailure });
    },
    remove: (member: Member) => {
      const offer = () =>
        offerUndo({
          message: t`${member.name} removed`,
          undo: () => restore(member),
          undone: t`${member.name} is back`,
        });
      dropFromList<Member>(
        client,
        projectKey(projectId, 'member'),
        ({ user_id }) => user_id === member.user_id,
      );
      remove.mutate(member.user_id, { onSuccess: offer, onError: showFailure });
    },
  };
}

export function MemberTable({ project }: { project: ProjectRef }) {
  const { user } = useSession();
  const query = useInfiniteQuery(membersQuery(project.id));
  const actions = useMemberActions(project.id);
  const columns: Column<Member>[] = [
    { id: 'name', header: t`Name`, cell: (member) => <Person member={member} ownId={user.id} /> },
    {
      id: 'role',
      header: t`Role`,
      width: '11rem',
      cell: (member) =>
        mayChange(project.role, member) && member.user_id !== user.id ? (
          <RoleSelect
            aria-label={t`Role of ${member.name}`}
            w="7.5rem"
            value={member.role}
            roles={rolesUpTo(project.role)}
            onChange={(role) => actions.changeRole(member, role)}
          />
        ) : (
          <FixedRole member={member} />
        ),
    },
    {
      id: 'since',
      header: t`Member since`,
      width: '10rem',
      hideBelow: 'md',
      cell: (member) => <RelativeTime value={member.since} />,
    },
    {
      id: 'remove',
      header: t`Remove`,
      quietHeader: true,
      align: 'end',
      width: '6rem',
      cell: (member) =>
        mayChange(project.role, member) &&
        member.user_id !== user.id && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label={t`Remove ${member.name}`}
            onClick={() => actions.remove(member)}
          >
            {t`Remove`}
          </Button>
        ),
    },
  ];
  return (
    <DataTable
      label={t`Members`}
      columns={columns}
      query={query}
      rowKey={(member) => member.user_id}
      empty={<EmptyState icon={Users} title={t`No members`} />}
    />
  );
}

function Person({ member, ownId }: { member: Member; ownId: string }) {
  return (
    <div>
      <Group gap={6}>
        <Text size="sm" fw={500}>
          {member.name}
        </Text>
        {member.user_id === ownId && (
          <Badge size="xs" variant="default">
            {t`You`}
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {member.email}
      </Text>
    </div>
  );
}

function FixedRole({ member }: { member: Member }) {
  const role = <span>{roleName(member.role)}</span>;
  if (!member.inherited) return role;
  return (
    <Tooltip label={t`Comes from the organisation and is changed there`}>
      <span>
        {role}{' '}
        <Text span size="xs" c="dimmed">
          {t`organisation`}
        </Text>
      </span>
    </Tooltip>
  );
}
