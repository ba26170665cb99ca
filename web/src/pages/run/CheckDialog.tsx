/** Whether a run comes out the same when it is driven again, and whether it is what was written and signed. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, List, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BadgeCheck, TriangleAlert } from 'lucide-react';
import type { Replay, RunDetail, Verified } from '@/api/run-types';
import { replayRun, verifyRun } from '@/api/runs';
import { useProject } from '@/app/project';
import { CodeBlock } from '@/components/CodeBlock';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { Hash } from '@/components/Hash';
import { WorkProgress } from '@/components/WorkProgress';

interface Props {
  run: RunDetail;
  kind: 'replay' | 'verify';
  opened: boolean;
  onClose: () => void;
}

const TITLES = { replay: t`Replay`, verify: t`Verify the run` };

export function CheckDialog({ run, kind, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={TITLES[kind]} size="40rem">
      {opened && (kind === 'replay' ? <ReplayResult run={run} /> : <VerifyResult run={run} />)}
    </Modal>
  );
}

const SIGNING: Record<Verified['signing'], string> = {
  signed: t`Verified`,
  not_yet: t`Chain intact, not signed yet`,
  before_signing: t`Chain intact, not signed (written before signing)`,
};

/** Asked anew each time: that is the point of it. */
const FRESH = { staleTime: 0, gcTime: 0, retry: false, refetchOnWindowFocus: false };

function ReplayResult({ run }: { run: RunDetail }) {
  const project = useProject();
  const query = useQuery({
    queryKey: ['replay', run.id],
    queryFn: (): Promise<Replay> => replayRun(project.id, run.id),
    ...FRESH,
  });
  const formats = useFormats();
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isFetching || !query.data) {
    return <WorkProgress doing={t`Driving the record again`} done={0} total={null} />;
  }
  const { entries, steps, divergences, ended } = query.data;
  const size = t`${formats.number(entries)} entries, ${formats.number(steps)} steps, ended ${ended}`;
  if (divergences.length === 0) {
    return (
      <Alert
        color="steward"
        variant="light"
        role="status"
        icon={<BadgeCheck size={16} aria-hidden />}
        title={t`Replayed without a difference`}
      >
        {t`With no model, network or clock: ${size}.`}
      </Alert>
    );
  }
  return (
    <Stack>
      <Alert
        color="red"
        variant="light"
        role="status"
        icon={<TriangleAlert size={16} aria-hidden />}
        title={t`${divergences.length} differences`}
      >
        {size}.
      </Alert>
      {divergences.map(({ key, what, recorded, replayed }, index) => (
        <Stack key={index} gap={6}>
          <Text size="sm">
            <b>{key}</b>: {what}
          </Text>
          <CodeBlock
            label={t`recorded at ${key}`}
            maxHeight="9rem"
            code={t`recorded ${JSON.stringify(recorded, null, 2)}`}
          />
          <CodeBlock
            label={t`replayed at ${key}`}
            maxHeight="9rem"
            code={t`replayed ${JSON.stringify(replayed, null, 2)}`}
          />
        </Stack>
      ))}
    </Stack>
  );
}

function VerifyResult({ run }: { run: RunDetail }) {
  const project = useProject();
  const formats = useFormats();
  const query = useQuery({
    queryKey: ['verify', run.id],
    queryFn: (): Promise<Verified> => verifyRun(project.id, run.id),
    ...FRESH,
  });
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isFetching || !query.data) {
    return (
      <WorkProgress
        doing={t`Checking entries, files, approvals and signatures`}
        done={0}
        total={null}
      />
    );
  }
  const { intact, signing, entries, files, approvals, signed_at, faults } = query.data;
  if (!intact) {
    return (
      <Alert
        color="red"
        variant="light"
        role="status"
        icon={<TriangleAlert size={16} aria-hidden />}
        title={t`This run is not what was written`}
      >
        <List size="sm">
          {faults.map(({ part, reason, seq }, index) => (
            <List.Item key={index}>
              {seq === null ? `${reason} (${part}).` : t`Entry ${seq}: ${reason} (${part}).`}
            </List.Item>
          ))}
        </List>
      </Alert>
    );
  }
  const counted = [
    t`${formats.number(entries)} entries`,
    t`${formats.number(files)} files`,
    t`${formats.number(approvals)} approvals`,
  ].join(', ');
  return (
    <Alert
      color={signing === 'signed' ? 'steward' : 'yellow'}
      variant="light"
      role="status"
      icon={<BadgeCheck size={16} aria-hidden />}
      title={SIGNING[signing]}
    >
      <Stack gap="xs" align="flex-start">
        <span>
          <Trans>
            Checked: {counted}, status, title and author.
            {signed_at !== null && t` Signed on ${formats.dateTime(signed_at)}.`}
          </Trans>
        </span>
        <Hash label={t`Hash of the last entry`} value={run.head_hash} />
      </Stack>
    </Alert>
  );
}
