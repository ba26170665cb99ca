/** Groups of people whom rules can name as approvers. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { approverGroupsQuery, useDeleteGroup, useSetGroup } from '@/api/policy';
import type { ApproverGroup } from '@/api/run-types';
import { useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { offerUndo, showFailure } from '@/components/undo';
import classes from './policy.module.css';

export function Approvers() {
  const project = useProject();
  const mayChange = useMay('admin');
  const groups = useQuery(approverGroupsQuery(project.id)).data ?? [];
  return (
    <Stack maw="44rem">
      <Text size="sm" c="dimmed">
        <Trans>
          A rule with <code>@approvers(&quot;finance&quot;)</code> asks somebody of that group. With{' '}
          <code>@four_eyes(&quot;yes&quot;)</code>, someone other than the person who asked must
          approve.
        </Trans>
      </Text>
      {groups.map((group) => (
        <OneGroup key={group.name} group={group} mayChange={mayChange} />
      ))}
      {mayChange && <NewGroup taken={groups.map(({ name }) => name)} />}
    </Stack>
  );
}

function useMembers() {
  const project = useProject();
  const members = itemsOf(useInfiniteQuery(membersQuery(project.id)).data);
  return members.map(({ user_id, name }) => ({ value: user_id, label: name }));
}

function OneGroup({ group, mayChange }: { group: ApproverGroup; mayChange: boolean }) {
  const project = useProject();
  const set = useSetGroup(project.id);
  const remove = useDeleteGroup(project.id);
  const drop = () =>
    remove.mutate(group.name, {
      onSuccess: () =>
        offerUndo({
          message: t`${group.name} deleted`,
          undo: () => set.mutateAsync(group),
          undone: t`${group.name} is back`,
        }),
      onError: showFailure,
    });
  return (
    <div className={classes.group}>
      <MultiSelect
        label={group.name}
        data={useMembers()}
        value={set.isPending ? set.variables.members : group.members}
        disabled={!mayChange}
        searchable
        className={classes.grow ?? ''}
        onChange={(members) => set.mutate({ name: group.name, members }, { onError: showFailure })}
      />
      {mayChange && (
        <Button variant="subtle" color="gray" aria-label={t`Delete ${group.name}`} onClick={drop}>
          {t`Delete`}
        </Button>
      )}
    </div>
  );
}

function NewGroup({ taken }: { taken: string[] }) {
  const project = useProject();
  const set = useSetGroup(project.id);
  const [name, setName] = useState('');
  const [members, setMembers] = useState<string[]>([]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    set.mutate(
      { name: name.trim(), members },
      {
        onSuccess: () => {
          setName('');
          setMembers([]);
        },
      },
    );
  };
  const isTaken = taken.includes(name.trim());
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Group grow align="flex-start">
          <TextInput
            label={t`New group`}
            placeholder={t`finance`}
            value={name}
            error={isTaken ? t`There is a group of this name.` : null}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <MultiSelect
            label={t`People`}
            data={useMembers()}
            value={members}
            searchable
            onChange={setMembers}
          />
        </Group>
        <FormError error={set.error} />
        <Group>
          <Button type="submit" disabled={name.trim() === '' || isTaken} loading={set.isPending}>
            {t`Add the group`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
