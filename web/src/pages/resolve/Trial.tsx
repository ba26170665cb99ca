/** The rules tried out beside the project's data: checks, entities and golden records, then applied or not. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, TriangleAlert } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { type Resolution, tryRules } from '@/api/resolve';
import { useProject } from '@/app/project';
import { datasetPath } from '@/components/dataset-path';
import { ErrorState } from '@/components/ErrorState';
import { Section } from '@/components/Section';
import { WorkProgress } from '@/components/WorkProgress';
import { Counts } from './Counts';
import { Entities } from './Entities';
import { GoldenRecords } from './GoldenRecords';
import classes from './resolve.module.css';
import { RulesError } from './RulesError';
import { type Applying, useApply } from './use-apply';
import { useWork } from '@/api/long-work';
import type { Way } from './use-trial';

interface Props {
  rules: string;
  way: Way;
}

export function Trial({ rules, way }: Props) {
  const project = useProject();
  const { datasets, trial } = way.steps;
  const [target, setTarget] = useState(t`${datasets[0] ?? 'records'} golden`.slice(0, 180));
  const known = itemsOf(useInfiniteQuery(datasetsQuery(project.id)).data);
  const task = useWork<Resolution>(project.id, trial);
  const start = useMutation({
    mutationFn: () => tryRules(project.id, { datasets, rules, target: target.trim() }),
    onSuccess: way.show,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    start.mutate();
  };
  const isBusy = start.isPending || task.running !== null;
  const isTaken = known.some(({ name }) => name === target.trim());
  return (
    <Section
      title={t`Try it out`}
      description={t`Makes the golden records aside, where you can look at them. The project's data changes only when you apply.`}
    >
      <form onSubmit={submit}>
        <Group align="flex-start" gap="sm">
          <TextInput
            label={t`Name of the result`}
            description={
              isTaken ? t`This dataset exists; applying makes its next version.` : undefined
            }
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={target}
            disabled={isBusy}
            flex="1 1 16rem"
            maw="30rem"
            onChange={({ currentTarget }) => setTarget(currentTarget.value)}
          />
          <Button type="submit" mt={22} loading={isBusy} disabled={target.trim() === ''}>
            {trial === null ? t`Try it out` : t`Try again`}
          </Button>
        </Group>
      </form>
      <RulesError error={start.error} />
      {task.running && <WorkProgress {...task.running} onCancel={task.cancel} />}
      {task.error !== null && <ErrorState error={task.error} />}
      {task.result && <Outcome key={trial} rules={rules} tried={task.result} way={way} />}
    </Section>
  );
}

interface OutcomeProps {
  rules: string;
  tried: Resolution;
  way: Way;
}

function Outcome({ rules, tried, way }: OutcomeProps) {
  const apply = useApply(rules, tried, way);
  // Once applied, what is shown is what is in the data.
  const result = apply.done ?? tried;
  const [golden = ''] = result.results;
  return (
    <Stack gap="md">
      <Counts
        items={[
          [t`Rows`, result.rows],
          [t`Entities`, result.entities],
          [t`Merged from several`, result.merged_entities],
        ]}
      />
      <ul className={classes.checks} aria-label={t`Checks`}>
        {result.checks.map(({ name, passed, detail }) => (
          <li key={name}>
            {passed ? (
              <Check size={14} aria-label={t`passed`} color="var(--mantine-primary-color-filled)" />
            ) : (
              <TriangleAlert size={14} aria-label={t`failed`} color="var(--mantine-color-error)" />
            )}
            <span>
              {name} <Text span size="xs" c="dimmed">{`(${detail})`}</Text>
            </span>
          </li>
        ))}
      </ul>
      {result.notes.length > 0 && (
        <ul className={classes.notes}>
          {result.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <Entities result={result} />
      <GoldenRecords dataset={golden} commit={result.commit} />
      <ApplyBar apply={apply} onClose={() => way.go({})} />
    </Stack>
  );
}

interface ApplyProps {
  apply: Applying;
  onClose: () => void;
}

function ApplyBar({ apply, onClose }: ApplyProps) {
  const project = useProject();
  if (apply.done) {
    return (
      <Alert variant="light" icon={<Check size={16} aria-hidden />} role="status">
        <Trans>
          Applied. Open{' '}
          {apply.done.results.map((name, index) => (
            <span key={name}>
              {index > 0 && ', '}
              <Anchor component={Link} to={datasetPath(project.id, name)}>
                {name}
              </Anchor>
            </span>
          ))}
          .
        </Trans>
      </Alert>
    );
  }
  return (
    <Stack gap="xs">
      <RulesError error={apply.error} />
      {apply.running && <WorkProgress {...apply.running} onCancel={apply.cancel} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="subtle" color="gray" disabled={apply.isBusy} onClick={onClose}>
          {t`Close the trial`}
        </Button>
        <Button loading={apply.isBusy} onClick={apply.run}>
          {t`Apply`}
        </Button>
      </Group>
    </Stack>
  );
}
