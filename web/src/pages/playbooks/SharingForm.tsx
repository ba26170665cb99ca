/** Owner, people and groups a playbook is shared with. */
import { t } from '@lingui/core/macro';
import { Button, Group, MultiSelect, Select, Stack, Switch } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { type PlaybookDetail, useSharePlaybook } from '@/api/playbooks';
import { approverGroupsQuery } from '@/api/policy';
import { projectPath, useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone, whenDone } from '@/components/undo';

export function SharingForm({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const members = itemsOf(useInfiniteQuery(membersQuery(project.id)).data);
  const groups = useQuery(approverGroupsQuery(project.id)).data ?? [];
  const share = useSharePlaybook(project.id);
  const navigate = useNavigate();
  const mayInvite = useMay('admin');
  const [owner, setOwner] = useState(playbook.owner);
  const [users, setUsers] = useState(playbook.allowed.users);
  const [chosen, setChosen] = useState(playbook.allowed.groups);
  const [everyone, setEveryone] = useState(playbook.allowed.everyone);
  const people = members.map(({ user_id, name, email }) => ({
    value: user_id,
    label: `${name} (${email})`,
  }));
  const emailOf = new Map(members.map(({ user_id, email }) => [user_id, email]));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const emails = users.flatMap((id) => emailOf.get(id) ?? []);
    const allowed = { users: emails, groups: chosen, everyone };
    const change = share.mutateAsync({ playbook, owner: emailOf.get(owner) ?? '', allowed });
    whenDone(change, () => showDone(t`Sharing saved`));
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" maw="36rem">
        <Select
          label={t`Owner`}
          data={people}
          value={owner}
          searchable
          allowDeselect={false}
          onChange={(value) => value !== null && setOwner(value)}
        />
        <MultiSelect
          label={t`People`}
          placeholder={users.length === 0 ? t`No one else` : ''}
          data={people}
          value={users}
          searchable
          disabled={everyone}
          onChange={setUsers}
        />
        {groups.length > 0 && (
          <MultiSelect
            label={t`Groups`}
            placeholder={chosen.length === 0 ? t`No group` : undefined}
            data={groups.map(({ name }) => name)}
            value={chosen}
            disabled={everyone}
            onChange={setChosen}
          />
        )}
        <Switch
          label={t`Everybody in the project`}
          checked={everyone}
          onChange={({ currentTarget }) => setEveryone(currentTarget.checked)}
        />
        <FormError error={share.error} />
        <Group>
          <Button type="submit" loading={share.isPending} disabled={members.length === 0}>
            {t`Save sharing`}
          </Button>
          {mayInvite && (
            <Button
              variant="default"
              onClick={() =>
                void navigate({
                  to: projectPath(project.id, 'members'),
                  search: { dialog: 'invite', playbook: playbook.id },
                })
              }
            >
              {t`Invite someone new`}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
