/** Legal holds of a project: those in force, those that were lifted, and a form for a new one. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useLiftHold, usePlaceHold } from '@/api/retention';
import { useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { Section } from '@/components/Section';
import { showDone } from '@/components/undo';

interface Hold {
  id: string;
  name: string;
  reason: string;
  placed_by: string;
  placed_at: string;
  lift_reason: string | null;
  lifted_by: string | null;
  lifted_at: string | null;
}

export function Holds({ holds }: { holds: Hold[] }) {
  const mayChange = useMay('owner');
  return (
    <Section
      title={t`Legal holds`}
      framed
      description={t`A hold stops every deletion: by people, by retention and by erasure. It stays on record after it is lifted.`}
    >
      <Stack>
        {holds.length === 0 && (
          <Text size="sm" c="dimmed">
            {t`No legal holds.`}
          </Text>
        )}
        {holds.map((hold) => (
          <HoldCard key={hold.id} hold={hold} mayLift={mayChange} />
        ))}
        {mayChange && <PlaceHold />}
      </Stack>
    </Section>
  );
}

function HoldCard({ hold, mayLift }: { hold: Hold; mayLift: boolean }) {
  const project = useProject();
  const lift = useLiftHold(project.id);
  const [asked, setAsked] = useState(false);
  const [reason, setReason] = useState('');
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600}>{hold.name}</Text>
        <Badge color="gray">{hold.lifted_at === null ? t`In force` : t`Lifted`}</Badge>
        {mayLift && hold.lifted_at === null && !asked && (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              setAsked(true);
            }}
          >
            {t`Lift ${hold.name}`}
          </Button>
        )}
      </Group>
      <Text size="sm">{hold.reason}</Text>
      <Text size="sm" c="dimmed">
        <Trans>
          {hold.placed_by} placed it on <FormattedDate value={hold.placed_at} />.
          {hold.lifted_at !== null && (
            <>
              {' '}
              <Trans>
                {hold.lifted_by} lifted it on <FormattedDate value={hold.lifted_at} />:{' '}
                {hold.lift_reason}
              </Trans>
            </>
          )}
        </Trans>
      </Text>
      {asked && (
        <>
          <TextInput
            label={t`Why is the hold lifted?`}
            maxLength={1000}
            value={reason}
            onChange={(event) => {
              setReason(event.currentTarget.value);
            }}
          />
          <FormError error={lift.error} />
          <Group gap="xs">
            <Button
              size="compact-sm"
              loading={lift.isPending}
              disabled={reason.trim() === ''}
              onClick={() => {
                lift.mutate(
                  { id: hold.id, reason: reason.trim() },
                  {
                    onSuccess: () => {
                      setAsked(false);
                      showDone(t`Hold lifted`);
                    },
                  },
                );
              }}
            >
              {t`Lift the hold`}
            </Button>
            <Button
              variant="default"
              size="compact-sm"
              onClick={() => {
                setAsked(false);
              }}
            >
              {t`Keep`}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

function PlaceHold() {
  const project = useProject();
  const place = usePlaceHold(project.id);
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const submit = () => {
    place.mutate(
      { name: name.trim(), reason: reason.trim() },
      {
        onSuccess: () => {
          setName('');
          setReason('');
          showDone(t`Hold placed`);
        },
      },
    );
  };
  return (
    <Stack>
      <TextInput
        label={t`Name of the hold`}
        placeholder={t`Case or request`}
        maxLength={100}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
        }}
      />
      <Textarea
        label={t`Reason`}
        maxLength={1000}
        autosize
        minRows={2}
        value={reason}
        onChange={(event) => {
          setReason(event.currentTarget.value);
        }}
      />
      <FormError error={place.error} />
      <Group>
        <Button
          loading={place.isPending}
          disabled={name.trim() === '' || reason.trim() === ''}
          onClick={submit}
        >
          {t`Place a hold`}
        </Button>
      </Group>
    </Stack>
  );
}
