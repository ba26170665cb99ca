/** One open model: what to know before it is fetched, the fetch, the check of its digest, and its use. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { projectKey } from '@/api/keys';
import { cancelWork, isOver, workError, workQuery } from '@/api/long-work';
import { usePullModel, type Weights } from '@/api/models';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showFailure } from '@/components/undo';
import { WorkProgress } from '@/components/WorkProgress';

const GIGABYTE = 1_000_000_000;
const size = (bytes: number) =>
  bytes < GIGABYTE
    ? t`${Math.round(bytes / 1_000_000)} MB`
    : t`${(bytes / GIGABYTE).toFixed(1)} GB`;

interface Props {
  weights: Weights;
  machineBytes: number;
  isUsed: boolean;
  onUse: () => void;
}

export function WeightsCard({ weights, machineBytes, isUsed, onUse }: Props) {
  const { name, title, licence, bytes, memory_bytes, state } = weights;
  const isTooLarge = memory_bytes > machineBytes;
  return (
    <Paper withBorder p="sm" role="group" aria-label={name}>
      <Stack gap={6}>
        <Text fw={600}>{title}</Text>
        {weights.use !== '' && <Text size="sm">{weights.use}</Text>}
        <Text size="xs" c="dimmed">
          {t`Download ${size(bytes)} · needs about ${size(memory_bytes)} of memory · licence ${licence}`}
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {t`SHA-256: ${weights.sha256 ?? t`not known. You confirm it after the download.`}`}
        </Text>
        {isTooLarge && (
          <Text size="xs" c="red">
            {t`This machine has only ${size(machineBytes)} of memory.`}
          </Text>
        )}
        {state === 'here' && (
          <Group>
            <Button size="compact-sm" disabled={isUsed} onClick={onUse}>
              {isUsed ? t`${name} is set up` : t`Use ${name}`}
            </Button>
          </Group>
        )}
        {state === 'unconfirmed' && <Confirmation weights={weights} />}
        {(state === 'absent' || state === 'begun') && <Download weights={weights} />}
      </Stack>
    </Paper>
  );
}

/** Follows the fetch of a model, also one that somebody started elsewhere. */
function useFetch(weights: Weights) {
  const project = useProject();
  const client = useQueryClient();
  const pull = usePullModel(project.id);
  const runId = pull.data?.run_id ?? weights.run_id ?? undefined;
  const work = useQuery(workQuery(project.id, runId)).data;
  const isEnded = work !== undefined && isOver(work);
  useEffect(() => {
    // What the machine has is another now.
    if (isEnded) void client.invalidateQueries({ queryKey: projectKey(project.id, 'models') });
  }, [client, isEnded, project.id]);
  return {
    start: (url: string, sha256: string) =>
      pull.mutate({ name: weights.name, url, sha256 }, { onError: showFailure }),
    isStarting: pull.isPending,
    work: work !== undefined && !isEnded ? work : null,
    error: work === undefined ? null : workError(work),
    cancel: () => {
      if (runId !== undefined) void cancelWork(project.id, runId);
    },
  };
}

function Download({ weights }: { weights: Weights }) {
  const fetching = useFetch(weights);
  const [isElsewhere, setElsewhere] = useState(weights.address === null);
  const [url, setUrl] = useState('');
  const [sha256, setSha256] = useState('');
  const { name, state } = weights;
  if (fetching.work !== null) {
    const { doing, done, total } = fetching.work;
    return (
      <WorkProgress
        doing={doing}
        done={done}
        total={total}
        format={size}
        onCancel={fetching.cancel}
      />
    );
  }
  return (
    <>
      <FormError error={fetching.error} />
      {isElsewhere && (
        <Stack gap="xs">
          <TextInput
            label={t`Address of the GGUF file`}
            placeholder={weights.address ?? 'https://'}
            value={url}
            onChange={({ currentTarget }) => setUrl(currentTarget.value.trim())}
          />
          {weights.sha256 === null && (
            <TextInput
              label={t`SHA-256`}
              description={t`As the publisher gives it. Empty: you confirm it after the download.`}
              value={sha256}
              onChange={({ currentTarget }) => setSha256(currentTarget.value.trim().toLowerCase())}
            />
          )}
        </Stack>
      )}
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="light"
          disabled={isElsewhere && weights.address === null && url === ''}
          loading={fetching.isStarting}
          onClick={() => fetching.start(url, sha256)}
        >
          {state === 'begun' ? t`Resume download of ${name}` : t`Download ${name}`}
        </Button>
        {!isElsewhere && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            aria-label={t`Use another address for ${name}`}
            onClick={() => setElsewhere(true)}
          >
            {t`Another address`}
          </Button>
        )}
      </Group>
    </>
  );
}

function Confirmation({ weights }: { weights: Weights }) {
  const fetching = useFetch(weights);
  return (
    <Alert variant="light" color="yellow" title={t`Compare its SHA-256`}>
      <Stack gap="xs">
        <Text size="sm">
          {t`The digest of this file was not known before the download. Compare it with the one that the publisher gives. Use the model only if they are the same.`}
        </Text>
        <FormError error={fetching.error} />
        <Group>
          <Button
            size="compact-sm"
            loading={fetching.isStarting || fetching.work !== null}
            onClick={() => fetching.start('', weights.sha256 ?? '')}
          >
            {t`They are the same`}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
