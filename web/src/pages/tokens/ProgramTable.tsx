/** Programs that act for the person after they connected them; disconnecting ends their tokens at once. */
import { t } from '@lingui/core/macro';
import { Button, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Unplug } from 'lucide-react';
import { programsQuery, useDisconnectProgram } from '@/api/programs';
import { roleName } from '@/api/roles';
import type { Program } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { showFailure } from '@/components/undo';

export function ProgramTable({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(programsQuery(projectId));
  const disconnect = useDisconnectProgram(projectId);
  const columns: Column<Program>[] = [
    { id: 'name', header: t`Program`, cell: ({ name }) => name },
    { id: 'role', header: t`Role`, width: '7rem', cell: ({ role }) => roleName(role) },
    {
      id: 'used',
      header: t`Last renewed`,
      width: '9rem',
      hideBelow: 'sm',
      cell: ({ last_used_at, created_at }) => <RelativeTime value={last_used_at ?? created_at} />,
    },
    {
      id: 'action',
      header: t`Disconnect`,
      quietHeader: true,
      align: 'end',
      width: '7rem',
      cell: ({ id, name }) => (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={t`Disconnect ${name}`}
          onClick={() => disconnect.mutate(id, { onError: showFailure })}
        >
          {t`Disconnect`}
        </Button>
      ),
    },
  ];
  return (
    <section aria-labelledby="programs-heading">
      <Title order={2} size="h4" id="programs-heading" mb={4}>
        {t`Connected programs`}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t`Programs that speak MCP and signed in with your account. Their tokens last an hour and open nothing but MCP.`}
      </Text>
      <DataTable
        label={t`Connected programs`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Unplug} title={t`No program is connected`}>
            {t`Enter the address of this server, followed by /mcp, in a program that speaks MCP. It opens this app and asks you.`}
          </EmptyState>
        }
      />
    </section>
  );
}
