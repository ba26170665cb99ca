/** Says that columns are encrypted, and asks to see their values for an hour. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { useEffect } from 'react';
import type { Dataset } from '@/api/data-types';
import { startReveal } from '@/api/datasets';
import { useWork } from '@/api/long-work';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';

interface Props {
  dataset: Dataset;
  revealed: string | undefined;
  onRevealed: (runId: string | undefined) => void;
}

export function Revealing({ dataset, revealed, onRevealed }: Props) {
  const project = useProject();
  const ask = useMutation({ mutationFn: () => startReveal(project.id, dataset.name) });
  const runId = ask.data?.id ?? null;
  const work = useWork(project.id, runId);
  const isAllowed = work.result !== null;
  useEffect(() => {
    if (isAllowed && runId !== null) onRevealed(runId);
  }, [isAllowed, onRevealed, runId]);
  const names = Object.keys(dataset.encrypted);
  return (
    <Alert variant="light" icon={<Lock size={16} aria-hidden />}>
      <Group gap="xs">
        {t`Encrypted: ${names.join(', ')}.`}
        {revealed === undefined ? (
          <Button
            variant="default"
            size="compact-xs"
            loading={ask.isPending}
            disabled={work.running !== null}
            onClick={() => ask.mutate()}
          >
            {work.running?.doing ?? t`Show values for an hour`}
          </Button>
        ) : (
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => {
              ask.reset();
              onRevealed(undefined);
            }}
          >
            {t`Hide values`}
          </Button>
        )}
      </Group>
      <FormError error={ask.error ?? work.error} />
    </Alert>
  );
}
