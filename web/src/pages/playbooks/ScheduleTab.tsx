/** When a playbook starts by itself: what is deployed, paused and set here. */
import {
  Anchor,
  Button,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarClock } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { ApiError } from '@/api/errors';
import {
  type PlaybookDetail,
  type Trigger,
  triggersQuery,
  useRemoveTrigger,
  useSetTrigger,
  useSwitchTrigger,
} from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { Section } from '@/components/Section';
import { toolArguments } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import { showDone, showFailure } from '@/components/undo';
import { inputFields, inputValues } from './inputs';
import classes from './playbooks.module.css';

const NAME = 'schedule';

export default function ScheduleTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const query = useQuery(triggersQuery(project.id, playbook.id));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  const triggers = query.data ?? [];
  return (
    <Stack gap="xl">
      {triggers.length === 0 ? (
        <EmptyState icon={CalendarClock} title="It starts only when somebody runs it">
          {playbook.may_edit ? 'Set a time below.' : 'An editor can set a time.'}
        </EmptyState>
      ) : (
        <ul className={classes.revisions}>
          {triggers.map((trigger) => (
            <TriggerLine key={trigger.name} trigger={trigger} playbook={playbook} />
          ))}
        </ul>
      )}
      {playbook.may_edit && <SetSchedule playbook={playbook} />}
    </Stack>
  );
}

function TriggerLine({ trigger, playbook }: { trigger: Trigger; playbook: PlaybookDetail }) {
  const project = useProject();
  const toggle = useSwitchTrigger(project.id);
  const remove = useRemoveTrigger(project.id);
  const { cron, time_zone: zone } = trigger.details as { cron?: string; time_zone?: string };
  const change = (enabled: boolean) =>
    toggle.mutate({ id: playbook.id, name: trigger.name, enabled }, { onError: showFailure });
  const take = () =>
    remove.mutate(
      { playbook, name: trigger.name },
      {
        onSuccess: () => showDone('The schedule is gone; its revision is still under Versions'),
        onError: showFailure,
      },
    );
  return (
    <li className={classes.revision}>
      <div className={classes.grow}>
        <Text size="sm" fw={600}>
          {trigger.name}
        </Text>
        <Text size="xs" c="dimmed">
          {cron ?? trigger.type} {zone !== undefined && `in ${zone}`}
          {trigger.next_moments.length > 0 && ' · next '}
          {trigger.next_moments.map((moment, index) => (
            <span key={moment}>
              {index > 0 && ', '}
              <FormattedDate value={moment} withTime />
            </span>
          ))}
        </Text>
        <Anchor component={Link} to={projectPath(project.id, 'triggers')} size="xs">
          Events
        </Anchor>
      </div>
      {playbook.may_edit && (
        <>
          <Switch
            label="On"
            checked={trigger.enabled}
            onChange={({ currentTarget }) => change(currentTarget.checked)}
          />
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            loading={remove.isPending}
            onClick={take}
          >
            Remove
          </Button>
        </>
      )}
    </li>
  );
}

const MOMENTS = [
  { label: 'Every weekday at 8:00', value: '0 8 * * 1-5' },
  { label: 'Every day at 2:00', value: '0 2 * * *' },
  { label: 'Mondays at 7:00', value: '0 7 * * 1' },
  { label: 'The first of the month at 6:00', value: '0 6 1 * *' },
];

const MISSED = [
  { value: 'once', label: 'Start once when it is back' },
  { value: 'skip', label: 'Skip what was missed' },
  { value: 'all', label: 'Start once for each missed moment' },
  { value: 'ask', label: 'Ask me' },
];

function SetSchedule({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const set = useSetTrigger(project.id);
  const fields = inputFields(playbook.inputs);
  const [cron, setCron] = useState('0 8 * * 1-5');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [missed, setMissed] = useState('once');
  const [values, setValues] = useState(() => inputValues(playbook.inputs));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems !== null) return;
    const settings = { cron: cron.trim(), time_zone: zone, missed, inputs: filled.arguments };
    set.mutate(
      { playbook, name: NAME, settings },
      {
        onSuccess: (saved) =>
          showDone(
            saved.deployed === saved.head
              ? 'The schedule is deployed'
              : 'The schedule is in the newest revision; deploy it under Versions',
          ),
      },
    );
  };
  const said = set.error instanceof ApiError ? new Error(set.error.detail) : set.error;
  return (
    <Section
      title="Set a schedule"
      description="It becomes a new revision, and each moment starts the deployed one."
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" maw="36rem">
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <TextInput
              label="When"
              description="Cron: minute, hour, day, month, weekday."
              value={cron}
              onChange={({ currentTarget }) => setCron(currentTarget.value)}
            />
            <Select
              label="Common moments"
              description="Fill in the expression."
              placeholder="Choose"
              data={MOMENTS}
              value={MOMENTS.some(({ value }) => value === cron) ? cron : null}
              allowDeselect={false}
              onChange={(value) => value !== null && setCron(value)}
            />
          </SimpleGrid>
          <Select
            label="Time zone"
            data={['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]}
            value={zone}
            searchable
            allowDeselect={false}
            limit={60}
            onChange={(value) => value !== null && setZone(value)}
          />
          <Select
            label="If Steward was not running"
            data={MISSED}
            value={missed}
            allowDeselect={false}
            onChange={(value) => value !== null && setMissed(value)}
          />
          <ToolForm fields={fields} values={values} errors={problems} onChange={setValues} />
          <FormError error={said} />
          <Group>
            <Button type="submit" loading={set.isPending}>
              Set the schedule
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
