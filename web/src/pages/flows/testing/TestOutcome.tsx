/** How a test went: its status, where it pauses, which steps differ from the last good run; kept as a test if wanted. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Pin, StepForward } from 'lucide-react';
import { useState } from 'react';
import { type TestResults, useContinueTest, useKeepTest } from '@/api/playbook-tests';
import type { PlaybookDetail } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { StatusChip } from '@/components/Chip';
import { showDone, showFailure } from '@/components/undo';

interface Props {
  playbook: PlaybookDetail;
  results: TestResults;
  /** What a step is called on the canvas, by its key. */
  titleOf: (key: string) => string;
}

export function TestOutcome({ playbook, results, titleOf }: Props) {
  const project = useProject();
  const { run, nodes, paused_before: paused, compared_with: good } = results;
  const goOn = useContinueTest(project.id, playbook.id);
  const keep = useKeepTest(project.id, playbook.id);
  const [name, setName] = useState('');
  const differing = nodes.filter(({ differs }) => differs).map(({ key }) => titleOf(key));
  const failed = nodes.filter(({ state }) => state === 'failed').map(({ key }) => titleOf(key));
  const waiting = paused.map(titleOf).join(', ');
  return (
    <Alert title={t`Result`} role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <StatusChip status={run.status} />
          <Anchor component={Link} to={projectPath(project.id, 'runs', run.id)} size="sm">
            {t`Open the run`}
          </Anchor>
        </Group>
        {paused.length > 0 && <Text size="sm">{t`It pauses before ${waiting}.`}</Text>}
        {paused.length === 0 && run.reason !== null && (
          <Text size="sm">
            {failed.length > 0 && <strong>{failed.join(', ')}: </strong>}
            {run.reason}
          </Text>
        )}
        <Text size="sm">
          {good === null
            ? t`There is no good run to compare with yet.`
            : differing.length === 0
              ? t`Every step gave what it gave in the last good run.`
              : t`Other outputs than in the last good run: ${differing.join(', ')}.`}
        </Text>
        {paused.length > 0 && playbook.may_edit && (
          <Button
            leftSection={<StepForward size={14} aria-hidden />}
            loading={goOn.isPending}
            onClick={() => goOn.mutate(run.id, { onError: showFailure })}
          >
            {t`Continue with ${waiting}`}
          </Button>
        )}
        {run.status === 'done' && playbook.may_edit && (
          <Group gap="xs" align="flex-end">
            <TextInput
              label={t`Keep as a test`}
              placeholder={t`Name`}
              maxLength={200}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button
              variant="default"
              leftSection={<Pin size={14} aria-hidden />}
              disabled={name.trim() === ''}
              loading={keep.isPending}
              onClick={() =>
                keep.mutate(
                  { run: run.id, name },
                  {
                    onSuccess: () => {
                      showDone(t`${name} runs before each deployment`);
                      setName('');
                    },
                    onError: showFailure,
                  },
                )
              }
            >
              {t`Keep`}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
