/** Asks what a repetition makes, who gets it and when; then opens it on the canvas. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Rhythm } from '@/api/chat-types';
import { useCreatePlaybook } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { guidedFlow, type Making, NO_DELIVERY, type Work } from '@/flows/guide';
import {
  BY_HAND,
  cronOf,
  DeliveryFields,
  deliveryProblem,
  MakeFields,
  WhenFields,
} from './GuideParts';

interface Props {
  work: Work;
  name: string;
  rhythm: Rhythm | null;
  onClose: () => void;
}

export default function RepeatDialog({ work, name: suggested, rhythm, onClose }: Props) {
  const project = useProject();
  const navigate = useNavigate();
  const create = useCreatePlaybook(project.id);
  const [name, setName] = useState(suggested.slice(0, 100));
  const [make, setMake] = useState<Making>({ kind: 'rows' });
  const [delivery, setDelivery] = useState(NO_DELIVERY);
  const [when, setWhen] = useState(() => ({ ...BY_HAND, ...rhythm }));
  const [isTried, setTried] = useState(false);
  const problem = deliveryProblem(delivery) ?? (name.trim() === '' ? 'Enter a name.' : null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    // The dialog may be drawn inside another form, whose submission this is not.
    event.stopPropagation();
    setTried(true);
    if (problem !== null) return;
    const text = guidedFlow({
      ...{ name: name.trim(), work, make, delivery },
      ...{ cron: cronOf(when), timeZone: when.timeZone },
    });
    create.mutate(text, {
      onSuccess: (made) => {
        onClose();
        showDone(`${made.name} is a draft now`);
        void navigate({ to: projectPath(project.id, 'flows', made.id) });
      },
    });
  };
  return (
    <Modal opened onClose={onClose} title="Repeat this" size="44rem">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            withAsterisk
            maxLength={100}
            value={name}
            data-autofocus
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {'query' in work && <MakeFields make={make} columns={[]} onChange={setMake} />}
          <DeliveryFields delivery={delivery} onChange={setDelivery} />
          <WhenFields when={when} onChange={setWhen} />
          <Text size="sm" c="dimmed">
            It becomes a draft and opens on the canvas. Nothing runs before you start or deploy it.
          </Text>
          {isTried && problem !== null && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          )}
          <FormError error={create.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create and open the canvas
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
