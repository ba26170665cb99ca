/** When a playbook starts by itself: what is deployed, paused and set here. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarClock } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { ApiError } from '@/api/errors';
import {
  type PlaybookDetail,
  type Trigger,
  triggersQuery,
  useDeployPlaybook,
  useRemoveTrigger,
  useSetTrigger,
  useSwitchTrigger,
} from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { MissedField, ScheduleFields } from '@/components/schedule/ScheduleFields';
import { DEFAULT_CRON, ownTimeZone, timingWords } from '@/components/schedule/timing';
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
        <EmptyState
          icon={CalendarClock}
          picture="calendar"
          title={t`It starts only when somebody runs it`}
        >
          {playbook.may_edit ? t`Set a time below.` : t`An editor can set a time.`}
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
        onSuccess: () => showDone(t`The schedule is gone; its revision is still under Versions`),
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
          {cron === undefined ? trigger.type : timingWords(cron)}{' '}
          {zone !== undefined && `(${zone})`}
          {trigger.next_moments.length > 0 && t` · next `}
          {trigger.next_moments.map((moment, index) => (
            <span key={moment}>
              {index > 0 && ', '}
              <FormattedDate value={moment} withTime />
            </span>
          ))}
        </Text>
        <Anchor component={Link} to={projectPath(project.id, 'triggers')} size="xs">
          {t`Events`}
        </Anchor>
      </div>
      {playbook.may_edit && (
        <>
          <Switch
            label={t`On`}
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
            {t`Remove`}
          </Button>
        </>
      )}
    </li>
  );
}

interface CronSettings {
  name: string;
  type: string;
  cron: string;
  time_zone?: string;
  missed?: string;
  inputs?: Record<string, unknown>;
}

/** The schedule of the newest revision, deployed or not. */
function scheduleIn({ document }: PlaybookDetail): CronSettings | undefined {
  const triggers = (document.triggers ?? []) as CronSettings[];
  return triggers.find(({ type }) => type === 'cron');
}

interface Saving {
  settings: Record<string, unknown>;
  isOn: boolean;
}

function useSaveSchedule(playbook: PlaybookDetail, name: string) {
  const project = useProject();
  const set = useSetTrigger(project.id);
  const deploy = useDeployPlaybook(project.id);
  const toggle = useSwitchTrigger(project.id);
  return useMutation({
    mutationFn: async ({ settings, isOn }: Saving) => {
      const saved = await set.mutateAsync({ playbook, name, settings });
      if (!isOn) return saved.deployed === saved.head;
      if (saved.deployed !== saved.head)
        await deploy.mutateAsync({ id: playbook.id, revision: saved.head });
      await toggle.mutateAsync({ id: playbook.id, name, enabled: true });
      return true;
    },
    onSuccess: (isOn) =>
      showDone(
        isOn ? t`The schedule is switched on` : t`The schedule is saved and not switched on`,
      ),
  });
}

interface SetProps {
  playbook: PlaybookDetail;
  onSaved?: () => void;
}

export function SetSchedule({ playbook, onSaved }: SetProps) {
  const kept = scheduleIn(playbook);
  const save = useSaveSchedule(playbook, kept?.name ?? NAME);
  const fields = inputFields(playbook.inputs);
  const [when, setWhen] = useState<{ cron: string | null; timeZone: string }>({
    cron: kept?.cron ?? DEFAULT_CRON,
    timeZone: kept === undefined ? ownTimeZone() : (kept.time_zone ?? 'UTC'),
  });
  const [missed, setMissed] = useState(kept?.missed ?? 'once');
  const [values, setValues] = useState(() => inputValues(playbook.inputs, kept?.inputs));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const submit = (isOn: boolean) => {
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems !== null) return;
    const { cron, timeZone } = when;
    const settings = { cron, time_zone: timeZone, missed, inputs: filled.arguments };
    save.mutate({ settings, isOn }, onSaved && { onSuccess: onSaved });
  };
  const said = save.error instanceof ApiError ? new Error(save.error.detail) : save.error;
  const hasMore = playbook.deployed !== null && playbook.deployed !== playbook.head;
  return (
    <Section
      title={kept === undefined ? t`Set a schedule` : t`Change the schedule`}
      description={t`Saving makes a new revision of the playbook.`}
    >
      <form
        noValidate
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault();
          submit(true);
        }}
      >
        <Stack gap="sm">
          <ScheduleFields value={when} onChange={setWhen} />
          <MissedField value={missed} onChange={setMissed} />
          <ToolForm fields={fields} values={values} errors={problems} onChange={setValues} />
          <FormError error={said} />
          {hasMore && (
            <Text size="sm">
              {t`Revision ${playbook.head} has changes that are not deployed yet. Switching on deploys them too.`}
            </Text>
          )}
          <Group gap="xs">
            <Button type="submit" loading={save.isPending}>
              {t`Save and switch on`}
            </Button>
            {playbook.deployed !== playbook.head && (
              <Button variant="default" disabled={save.isPending} onClick={() => submit(false)}>
                {t`Save only`}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
