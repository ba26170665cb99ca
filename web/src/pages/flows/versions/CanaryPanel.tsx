/** A newer version on a share of the runs. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, NumberInput, Text } from '@mantine/core';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useCanary, useDeploy } from '@/api/deployments';
import type { PlaybookDetail } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';

export function CanaryPanel({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const canary = useCanary(project.id, playbook.id);
  const deploy = useDeploy(project.id, playbook.id);
  const [percent, setPercent] = useState<number | string>(10);
  const tried = playbook.canary;
  if (tried) {
    return (
      <Alert
        mb="md"
        icon={<FlaskConical size={16} aria-hidden />}
        title={t`Revision ${tried.revision} gets ${tried.percent}% of the runs`}
      >
        <Group>
          <Text size="sm">
            {t`All others are of revision ${playbook.deployed ?? ''}. Runs keep the version they began with.`}
          </Text>
          <Button
            size="xs"
            loading={deploy.isPending}
            onClick={() =>
              deploy.mutate(
                { revision: tried.revision, message: t`After a trial on ${tried.percent}%` },
                {
                  onSuccess: () => showDone(t`Revision ${tried.revision} is deployed`),
                  onError: showFailure,
                },
              )
            }
          >
            {t`Deploy it for all`}
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={canary.isPending}
            onClick={() =>
              canary.mutate(null, {
                onSuccess: () => showDone(t`The trial has ended`),
                onError: showFailure,
              })
            }
          >
            {t`End the trial`}
          </Button>
        </Group>
      </Alert>
    );
  }
  if (playbook.head === playbook.deployed) return null;
  return (
    <Group mb="md" align="flex-end">
      <NumberInput
        label={t`Try revision ${playbook.head} on a share of the runs`}
        suffix=" %"
        min={1}
        max={99}
        w="20rem"
        value={percent}
        onChange={setPercent}
      />
      <Button
        variant="default"
        leftSection={<FlaskConical size={14} aria-hidden />}
        loading={canary.isPending}
        disabled={typeof percent !== 'number'}
        onClick={() =>
          canary.mutate(
            { revision: playbook.head, percent: Number(percent) },
            {
              onSuccess: () => showDone(t`Revision ${playbook.head} gets ${percent}% of the runs`),
              onError: showFailure,
            },
          )
        }
      >
        {t`Start the trial`}
      </Button>
    </Group>
  );
}
