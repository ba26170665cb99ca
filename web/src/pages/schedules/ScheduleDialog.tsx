/** Creates a schedule: when, and which flow. */
import { Modal, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import type { NewSchedule } from '@/api/run-types';
import { useCreateSchedule } from '@/api/tools';
import { useProject } from '@/app/project';
import { EXAMPLE_FLOW, FlowField, useFlowCheck } from '@/components/FlowField';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';

interface Props {
  opened: boolean;
  onClose: () => void;
}

export function ScheduleDialog({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create a schedule" size="44rem">
      {opened && <ScheduleForm onClose={onClose} />}
    </Modal>
  );
}

const TIMES = [
  { label: 'Every weekday at 8:00', value: '0 8 * * 1-5' },
  { label: 'Every day at 2:00', value: '0 2 * * *' },
  { label: 'Every hour', value: '0 * * * *' },
  { label: 'Mondays at 7:00', value: '0 7 * * 1' },
  { label: 'The first of the month at 6:00', value: '0 6 1 * *' },
];

const MISSED = [
  { value: 'once', label: 'Start once when the server is back' },
  { value: 'skip', label: 'Skip what was missed' },
  { value: 'all', label: 'Start once for each missed moment' },
  { value: 'ask', label: 'Ask me' },
];

function timeZones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

function ScheduleForm({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const create = useCreateSchedule(project.id);
  const [name, setName] = useState('');
  const [cron, setCron] = useState('0 8 * * 1-5');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [missed, setMissed] = useState('once');
  const [flow, setFlow] = useState(EXAMPLE_FLOW);
  const check = useFlowCheck(flow);
  const refused = fieldMessages(create.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const body = {
      name: name.trim(),
      cron: cron.trim(),
      time_zone: zone,
      missed: missed as NewSchedule['missed'],
      flow,
    };
    create.mutate(body, {
      onSuccess: () => {
        showDone(`${body.name} created`);
        onClose();
      },
    });
  };
  const isElsewhere = !['name', 'cron', 'time_zone'].some((field) => field in refused);
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          withAsterisk
          data-autofocus
          value={name}
          error={refused.name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <TextInput
            label="When"
            description="Cron: minute, hour, day, month, weekday."
            withAsterisk
            value={cron}
            error={refused.cron}
            onChange={({ currentTarget }) => setCron(currentTarget.value)}
          />
          <Select
            label="Common moments"
            description="Fill in the expression."
            placeholder="Choose"
            data={TIMES}
            value={TIMES.some(({ value }) => value === cron) ? cron : null}
            allowDeselect={false}
            onChange={(value) => value !== null && setCron(value)}
          />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <Select
            label="Time zone"
            data={timeZones()}
            value={zone}
            error={refused.time_zone}
            searchable
            allowDeselect={false}
            limit={60}
            onChange={(value) => value !== null && setZone(value)}
          />
          <Select
            label="After an interruption"
            data={MISSED}
            value={missed}
            allowDeselect={false}
            onChange={(value) => value !== null && setMissed(value)}
          />
        </SimpleGrid>
        <FlowField value={flow} onChange={setFlow} check={check} />
        {isElsewhere && <FormError error={create.error} />}
        <FormFooter
          submit="Create"
          isPending={create.isPending}
          isDisabled={name.trim() === '' || check.check?.valid !== true || check.isChecking}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
