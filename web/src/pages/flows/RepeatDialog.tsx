/** Asks what a repetition makes, who gets it and when; then opens it on the canvas. */
import { t } from '@lingui/core/macro';
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import type { Rhythm } from '@/api/chat-types';
import { FormError } from '@/components/FormError';
import { ScheduleFields, type ScheduleValue } from '@/components/schedule/ScheduleFields';
import { ownTimeZone, rhythmCron } from '@/components/schedule/timing';
import { guidedFlow, type Making, NO_DELIVERY, type Work } from '@/flows/guide';
import { DeliveryFields, deliveryProblem, MakeFields, makeProblem } from './GuideParts';
import { isSwitchingOn, SaveGuided, useSaveGuided } from './SaveGuided';

interface Props {
  work: Work;
  name: string;
  rhythm: Rhythm | null;
  columns: readonly { name: string; type: string }[];
  onClose: () => void;
}

export default function RepeatDialog({ work, name: suggested, rhythm, columns, onClose }: Props) {
  const save = useSaveGuided(onClose);
  const [name, setName] = useState(suggested.slice(0, 100));
  const [make, setMake] = useState<Making>({ kind: 'rows' });
  const [delivery, setDelivery] = useState(NO_DELIVERY);
  const [when, setWhen] = useState<ScheduleValue>(() => ({
    cron: rhythm === null ? null : rhythmCron(rhythm),
    timeZone: ownTimeZone(),
  }));
  const [isTried, setTried] = useState(false);
  const problem =
    makeProblem(make) ??
    deliveryProblem(delivery) ??
    (name.trim() === '' ? t`Enter a name.` : null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    // The dialog may be drawn inside another form, whose submission this is not.
    event.stopPropagation();
    setTried(true);
    if (problem !== null) return;
    const text = guidedFlow({ name: name.trim(), work, make, delivery, ...when });
    save.mutate({ text, deploys: isSwitchingOn(event) });
  };
  return (
    <Modal opened onClose={onClose} title={t`Make this a playbook`} size="44rem">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label={t`Name`}
            withAsterisk
            maxLength={100}
            value={name}
            data-autofocus
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {'query' in work && <MakeFields make={make} columns={columns} onChange={setMake} />}
          <DeliveryFields delivery={delivery} onChange={setDelivery} />
          <ScheduleFields value={when} onChange={setWhen} allowsByHand />
          {isTried && problem !== null && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          )}
          <FormError error={save.error} />
          <SaveGuided
            hasSchedule={when.cron !== null}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
