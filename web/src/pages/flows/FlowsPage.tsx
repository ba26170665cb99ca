/** Every playbook as a flow, and a new one to draw. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListChecks, Plus, Workflow } from 'lucide-react';
import { useState } from 'react';
import { type Playbook, playbooksQuery } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { SearchField } from '@/components/SearchField';
import { STATES } from '../playbooks/states';

export default function FlowsPage() {
  const project = useProject();
  const mayEdit = useMay('editor');
  const [text, setText] = useState('');
  const query = useInfiniteQuery(playbooksQuery(project.id, { text, folder: null, shelf: 'used' }));
  const columns: Column<Playbook>[] = [
    {
      id: 'name',
      header: t`Flow`,
      cell: ({ id, name }) => (
        <Anchor component={Link} to={projectPath(project.id, 'flows', id)} fw={600}>
          {name}
        </Anchor>
      ),
    },
    { id: 'state', header: t`State`, cell: ({ state }) => <Chip {...STATES[state]} /> },
    { id: 'goal', header: t`Goal`, hideBelow: 'sm', cell: ({ goal }) => goal },
    {
      id: 'changed',
      header: t`Changed`,
      hideBelow: 'sm',
      cell: ({ updated_at }) => <RelativeTime value={updated_at} />,
    },
  ];
  const start = mayEdit && (
    <Group gap="xs">
      <Button
        component={Link}
        to={projectPath(project.id, 'flows', 'guide')}
        variant="default"
        leftSection={<ListChecks size={14} aria-hidden />}
      >
        {t`Step by step`}
      </Button>
      <Button
        component={Link}
        to={projectPath(project.id, 'flows', 'new')}
        leftSection={<Plus size={14} aria-hidden />}
      >
        {t`New flow`}
      </Button>
    </Group>
  );
  return (
    <Page
      title={t`Flows`}
      description={t`Draw what should happen, step by step. Every playbook is a flow.`}
      actions={start}
      toolbar={
        <SearchField label={t`Search flows`} placeholder={t`Search flows`} onSearch={setText} />
      }
    >
      <DataTable
        label={t`Flows`}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Workflow} picture="flow" title={t`No flows yet`} action={start}>
            {t`A flow is a playbook that you draw: data, steps, people and messages.`}
          </EmptyState>
        }
      />
    </Page>
  );
}
