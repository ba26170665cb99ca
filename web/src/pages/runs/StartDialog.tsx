/** Starts a run: one tool with a form, or a flow as YAML. */
import { t } from '@lingui/core/macro';
import { Modal, Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Run } from '@/api/run-types';
import { projectPath, useProject } from '@/app/project';
import { StartFlow } from './StartFlow';
import { StartTool } from './StartTool';

interface Props {
  opened: boolean;
  onClose: () => void;
}

export function StartDialog({ opened, onClose }: Props) {
  const project = useProject();
  const navigate = useNavigate();
  const onStarted = (run: Pick<Run, 'id'>) =>
    void navigate({ to: projectPath(project.id, 'runs', run.id), search: {} });
  return (
    <Modal opened={opened} onClose={onClose} title={t`Start a run`} size="44rem">
      <Tabs defaultValue="tool" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="tool">{t`One tool`}</Tabs.Tab>
          <Tabs.Tab value="flow">{t`A flow`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tool">
          <StartTool onStarted={onStarted} onClose={onClose} />
        </Tabs.Panel>
        <Tabs.Panel value="flow">
          <StartFlow onStarted={onStarted} onClose={onClose} />
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}
