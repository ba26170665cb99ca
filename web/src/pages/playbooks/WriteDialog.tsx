/** Writes a new playbook, checked line by line. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { useCreatePlaybook } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { EXAMPLE_PLAYBOOK, PlaybookField, usePlaybookCheck } from './PlaybookField';

interface Props {
  opened: boolean;
  onClose: () => void;
}

export function WriteDialog({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Write a playbook`} size="50rem">
      {opened && <WriteForm onClose={onClose} />}
    </Modal>
  );
}

function WriteForm({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const navigate = useNavigate();
  const create = useCreatePlaybook(project.id);
  const [yaml, setYaml] = useState(EXAMPLE_PLAYBOOK);
  const check = usePlaybookCheck(yaml);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate(yaml, {
      onSuccess: (made) => {
        showDone(t`${made.name} is a draft now`);
        void navigate({ to: projectPath(project.id, 'playbooks', made.id) });
      },
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <PlaybookField value={yaml} onChange={setYaml} check={check} />
        <FormError error={create.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t`Cancel`}
          </Button>
          <Button
            type="submit"
            disabled={check.check?.valid !== true || check.isChecking}
            loading={create.isPending}
          >
            {t`Create the draft`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
