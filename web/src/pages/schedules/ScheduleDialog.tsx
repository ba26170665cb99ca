/** When a flow starts: asked for a new schedule, or changed. */
import { t } from '@lingui/core/macro';
import { Modal, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import type { Schedule } from '@/api/run-types';
import { useChangeSchedule, useCreateSchedule } from '@/api/tools';
import { useProject } from '@/app/project';
import { EXAMPLE_FLOW, FlowField, useFlowCheck } from '@/components/FlowField';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { MissedField, ScheduleFields } from '@/components/schedule/ScheduleFields';
import { DEFAULT_CRON, ownTimeZone } from '@/components/schedule/timing';
import { showDone } from '@/components/undo';

interface Props {
  /** Null: a new one. */
  schedule: Schedule | null;
  onClose: () => void;
}

export function ScheduleDialog({ schedule, onClose }: Props & { schedule: Schedule }) {
  return (
    <Modal opened onClose={onClose} title={t`Change ${schedule.name}`} size="44rem">
      <ScheduleForm {...{ schedule, onClose }} />
    </Modal>
  );
}

export function ScheduleForm({ schedule, onClose }: Props) {
  const project = useProject();
  const create = useCreateSchedule(project.id);
  const change = useChangeSchedule(project.id);
  const [name, setName] = useState(schedule?.name ?? '');
  const [when, setWhen] = useState<{ cron: string | null; timeZone: string }>({
    cron: schedule?.cron ?? DEFAULT_CRON,
    timeZone: schedule?.time_zone ?? ownTimeZone(),
  });
  const [missed, setMissed] = useState<string>(schedule?.missed ?? 'once');
  const [flow, setFlow] = useState(EXAMPLE_FLOW);
  const check = useFlowCheck(flow);
  const saving = schedule === null ? create : change;
  const refused = fieldMessages(saving.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const settings = {
      name: name.trim(),
      cron: when.cron ?? '',
      time_zone: when.timeZone,
      missed: missed as Schedule['missed'],
    };
    const onSuccess = () => {
      showDone(t`${settings.name} is switched on`);
      onClose();
    };
    if (schedule === null) create.mutate({ ...settings, flow }, { onSuccess });
    else change.mutate({ schedule, changes: { ...settings, enabled: true } }, { onSuccess });
  };
  const isFlowRight = schedule !== null || (check.check?.valid === true && !check.isChecking);
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t`Name`}
          withAsterisk
          data-autofocus
          value={name}
          error={refused.name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <ScheduleFields value={when} onChange={setWhen} />
        <MissedField value={missed} onChange={setMissed} />
        {schedule === null && <FlowField value={flow} onChange={setFlow} check={check} />}
        {!('name' in refused) && <FormError error={saving.error} />}
        <FormFooter
          submit={t`Save and switch on`}
          isPending={saving.isPending}
          isDisabled={name.trim() === '' || !isFlowRight}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
