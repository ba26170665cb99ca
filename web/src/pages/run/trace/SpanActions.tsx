/** From a span to its node, its entries and its approval; run again from here, fork here, make a test of the run. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FlaskConical, GitFork, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useRetry } from '@/api/deployments';
import type { TraceSpan } from '@/api/observe';
import { useKeepTest } from '@/api/playbook-tests';
import { playbookQuery } from '@/api/playbooks';
import type { RunDetail } from '@/api/run-types';
import { capsuleAddress, forkRun, isFinal } from '@/api/runs';
import { projectPath, useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone, showFailure } from '@/components/undo';
import { callPath } from '../../flows/standing';
import { CanvasLink, playbookOf } from '../CanvasLink';
import classes from './trace.module.css';

interface Props {
  span: TraceSpan;
  run: RunDetail;
}

/** Steward decides about calls, and people about what waits. */
const DECIDED = new Set(['execute_tool', 'wait']);

export function SpanActions({ span, run }: Props) {
  const project = useProject();
  const mayFork = useMay('editor');
  const { about } = span;
  // Journals say nothing of what other programs did.
  if (span.operation === 'remote') return null;
  const at = stepOf(about);
  // What is below another run is done with from that run's own page.
  if (span.run_id !== run.id || about === '') {
    return about === '' && span.run_id === run.id ? <MakeTest run={run} /> : null;
  }
  const runPath = projectPath(project.id, 'runs', run.id);
  return (
    <Group gap="xs" className={classes.actions ?? ''}>
      <Text span size="sm">
        <CanvasLink run={run} call={about} />
      </Text>
      <Anchor
        component={Link}
        to={`${runPath}?tab=journal&about=${encodeURIComponent(about)}`}
        size="sm"
      >
        {t`Journal entries`}
      </Anchor>
      {DECIDED.has(span.operation) && (
        <Anchor component={Link} to={callPath(project.id, run.id, callOf(about))} size="sm">
          {t`Decision and approval`}
        </Anchor>
      )}
      <RetryFrom run={run} at={at} />
      {mayFork && (
        <Button
          component={Link}
          to={`${runPath}?tab=trace&dialog=fork&at=${encodeURIComponent(about)}`}
          size="compact-sm"
          variant="default"
          leftSection={<GitFork size={13} aria-hidden />}
        >
          {t`Fork here with a change`}
        </Button>
      )}
      <MakeTest run={run} />
    </Group>
  );
}

/** The outermost step of the flow that a key is about. */
export function stepOf(about: string): string {
  return (about.split('/')[0] ?? '').split(':')[0]?.replace(/(\[\d+\]|#\d+|~\d+)+$/, '') ?? '';
}

/** The call that a request or a wait belongs to. */
function callOf(about: string): string {
  return about.replace(/(:\w+|\/approval\/.*|\/budget\/.*)$/, '');
}

/** Runs again from the step of the span: a flow with the version that is chosen, anything else as it was. */
function RetryFrom({ run, at }: { run: RunDetail; at: string }) {
  const playbookId = playbookOf(run);
  const mayRun = useMay('operator');
  const mayFork = useMay('editor');
  const [isOpen, setOpen] = useState(false);
  if (!isFinal(run.status)) return null;
  if (playbookId === null ? !mayFork : !mayRun) return null;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<RotateCcw size={13} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {t`Retry from here`}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t`Retry from “${at}”`}>
        {playbookId === null ? (
          <RetryAsFork run={run} at={at} onClose={() => setOpen(false)} />
        ) : (
          <RetryFlow run={run} at={at} playbookId={playbookId} onClose={() => setOpen(false)} />
        )}
      </Modal>
    </>
  );
}

interface FormProps {
  run: RunDetail;
  at: string;
  onClose: () => void;
}

const KEPT = t`Steward keeps what the steps before it did and runs this step and those after it again.`;

function RetryFlow({ run, at, playbookId, onClose }: FormProps & { playbookId: string }) {
  const project = useProject();
  const navigate = useNavigate();
  const playbook = useQuery(playbookQuery(project.id, playbookId)).data;
  const retry = useRetry(project.id, playbookId);
  const used = typeof run.grant.revision === 'number' ? run.grant.revision : null;
  const head = playbook?.head ?? null;
  const [chosen, setChosen] = useState<string | null>(null);
  const choices = [{ value: 'same', label: used === null ? t`The same` : t`The same (${used})` }];
  if (head !== null && head !== used && playbook?.may_edit === true)
    choices.unshift({ value: String(head), label: t`The newest (${head})` });
  if (playbook?.deployed && playbook.deployed !== used && playbook.deployed !== head)
    choices.push({ value: 'deployed', label: t`The deployed one (${playbook.deployed})` });
  const version = chosen ?? choices[0]?.value ?? 'same';
  const [problem, setProblem] = useState<string | null>(null);
  const submit = () =>
    retry.mutate(
      {
        runs: [run.id],
        version: version === 'same' || version === 'deployed' ? version : Number(version),
        from_failure: false,
        at,
      },
      {
        onSuccess: ([done]) => {
          setProblem(done?.problem ?? null);
          if (!done?.run) return;
          showDone(t`Started again`);
          onClose();
          void navigate({ to: projectPath(project.id, 'runs', done.run.id), search: {} });
        },
      },
    );
  return (
    <Stack>
      <Text size="sm">{KEPT}</Text>
      <Select
        label={t`Revision`}
        data={choices}
        value={version}
        allowDeselect={false}
        onChange={setChosen}
      />
      {problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      <FormError error={retry.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button loading={retry.isPending} disabled={!playbook} onClick={submit}>
          {t`Retry`}
        </Button>
      </Group>
    </Stack>
  );
}

function RetryAsFork({ run, at, onClose }: FormProps) {
  const project = useProject();
  const navigate = useNavigate();
  const fork = useMutation({
    mutationFn: () => forkRun(project.id, run.id, { at, changes: {} }),
    onSuccess: ({ id }) => {
      showDone(t`Started again on a branch of its own`);
      onClose();
      void navigate({ to: projectPath(project.id, 'runs', id), search: {} });
    },
  });
  return (
    <Stack>
      <Text size="sm">{t`${KEPT} It works on a branch of its own.`}</Text>
      <FormError error={fork.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button loading={fork.isPending} onClick={() => fork.mutate()}>
          {t`Retry`}
        </Button>
      </Group>
    </Stack>
  );
}

/** A run of a flow that ended well becomes a test of the flow; any other that is over, a test in a file. */
function MakeTest({ run }: { run: RunDetail }) {
  const project = useProject();
  const mayKeep = useMay('editor');
  const playbookId = playbookOf(run);
  const [isOpen, setOpen] = useState(false);
  if (!isFinal(run.status)) return null;
  const look = {
    size: 'compact-sm',
    variant: 'default',
    leftSection: <FlaskConical size={13} aria-hidden />,
  } as const;
  if (playbookId === null || run.status !== 'done') {
    return (
      <Button component="a" href={capsuleAddress(project.id, run.id, true)} download {...look}>
        {t`Record as a test`}
      </Button>
    );
  }
  if (!mayKeep) return null;
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)}>
        {t`Make a test of it`}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t`Keep the run as a test`}>
        <KeepTest run={run} playbookId={playbookId} onClose={() => setOpen(false)} />
      </Modal>
    </>
  );
}

function KeepTest({ run, playbookId, onClose }: Omit<FormProps, 'at'> & { playbookId: string }) {
  const project = useProject();
  const keep = useKeepTest(project.id, playbookId);
  const [name, setName] = useState(run.title.slice(0, 200));
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() === '') return;
        keep.mutate(
          { run: run.id, name: name.trim() },
          {
            onSuccess: () => {
              showDone(t`Kept as the test ${name.trim()}`);
              onClose();
            },
            onError: showFailure,
          },
        );
      }}
    >
      <Stack>
        <Text size="sm">
          {t`The same inputs must give the same output again. Steward runs the test before each deployment of the flow.`}
        </Text>
        <TextInput
          label={t`Name of the test`}
          withAsterisk
          maxLength={200}
          value={name}
          error={name.trim() === '' ? t`Enter a name.` : null}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <FormError error={keep.error} />
        <FormFooter
          submit={t`Keep`}
          cancel={t`Cancel`}
          isPending={keep.isPending}
          isDisabled={name.trim() === ''}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
