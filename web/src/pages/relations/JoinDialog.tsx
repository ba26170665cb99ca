/** The suggested join: name and kind first, then its preview, then done. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { ChangeRequest } from '@/api/changes';
import { useProject } from '@/app/project';
import { ChangeDialog } from '@/components/ChangePreview';
import { datasetPath } from '@/components/dataset-path';
import { JOIN_KINDS, joinChange, type Relationship } from './relations';

interface Props {
  relationship: Relationship | null;
  onClose: () => void;
}

export function JoinDialog({ relationship, onClose }: Props) {
  const project = useProject();
  const navigate = useNavigate();
  const [change, setChange] = useState<ChangeRequest | null>(null);
  return (
    <>
      <Modal
        opened={relationship !== null && change === null}
        onClose={onClose}
        title={
          relationship ? t`Join ${relationship.join.left} with ${relationship.join.right}` : ''
        }
      >
        {relationship && <JoinForm relationship={relationship} onPreview={setChange} />}
      </Modal>
      <ChangeDialog
        projectId={project.id}
        change={change}
        title={t`Join into ${change?.target ?? ''}`}
        onClose={() => setChange(null)}
        onApplied={(target) => {
          onClose();
          void navigate({ to: datasetPath(project.id, target) });
        }}
      />
    </>
  );
}

interface FormProps {
  relationship: Relationship;
  onPreview: (change: ChangeRequest) => void;
}

function JoinForm({ relationship, onPreview }: FormProps) {
  const { join } = relationship;
  const [target, setTarget] = useState(t`${join.left} with ${join.right}`);
  const [how, setHow] = useState(join.how);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onPreview(joinChange(relationship, { target: target.trim(), how }));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {join.on.map(([left, right]) => `${left} = ${right}`).join(', ')}: {join.reason}.
        </Text>
        <TextInput
          label={t`Name of the result`}
          required
          value={target}
          onChange={({ currentTarget }) => setTarget(currentTarget.value)}
          data-autofocus
        />
        <Select
          label={t`Kind of join`}
          data={JOIN_KINDS}
          value={how}
          allowDeselect={false}
          onChange={(next) => {
            if (next !== null) setHow(next);
          }}
        />
        <Group justify="flex-end">
          <Button type="submit" disabled={target.trim() === ''}>
            {t`Preview`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
