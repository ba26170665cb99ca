/** Revisions, newest first: what each changed, which one is deployed, and the way back. */
import { t } from '@lingui/core/macro';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { CircleCheck, History, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import {
  type PlaybookDetail,
  type PlaybookRevision,
  revisionDiffQuery,
  revisionsQuery,
  useDeployPlaybook,
  useRollBackPlaybook,
} from '@/api/playbooks';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import classes from './playbooks.module.css';

export default function VersionsTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const query = useInfiniteQuery(revisionsQuery(project.id, playbook.id));
  const back = useRollBackPlaybook(project.id);
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const revisions = itemsOf(query.data);
  if (revisions.length === 0) return <EmptyState icon={History} title={t`No revisions yet`} />;
  const rollBack = () =>
    back.mutate(playbook.id, {
      onSuccess: ({ deployed }) => showDone(t`Revision ${deployed ?? ''} is deployed again`),
      onError: showFailure,
    });
  return (
    <Stack>
      {playbook.may_edit && playbook.previous !== null && (
        <Group>
          <Button
            variant="default"
            leftSection={<Undo2 size={14} aria-hidden />}
            loading={back.isPending}
            onClick={rollBack}
          >
            {t`Roll back to revision ${playbook.previous}`}
          </Button>
        </Group>
      )}
      <ol className={classes.revisions} reversed>
        {revisions.map((revision) => (
          <RevisionLine key={revision.number} revision={revision} playbook={playbook} />
        ))}
      </ol>
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t`Show older ones`}
        </Button>
      )}
    </Stack>
  );
}

interface LineProps {
  revision: PlaybookRevision;
  playbook: PlaybookDetail;
}

function RevisionLine({ revision, playbook }: LineProps) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const deploy = useDeployPlaybook(project.id);
  const [opened, setOpened] = useState(false);
  const before = playbook.deployed;
  const isDeployed = before === revision.number;
  const start = () =>
    deploy.mutate(
      { id: playbook.id, revision: revision.number },
      {
        onSuccess: () =>
          before === null
            ? showDone(t`Revision ${revision.number} is deployed`)
            : offerUndo({
                message: t`Revision ${revision.number} is deployed`,
                undo: () => deploy.mutateAsync({ id: playbook.id, revision: before }),
                undone: t`Revision ${before} is deployed again`,
              }),
        onError: showFailure,
      },
    );
  return (
    <li className={classes.revision}>
      <div className={classes.grow}>
        <Text size="sm" fw={600}>
          {revision.number}. {revision.message}
        </Text>
        <Text size="xs" c="dimmed">
          {nameOf(revision.author) ?? t`Somebody who left`}{' '}
          <RelativeTime value={revision.created_at} />
        </Text>
      </div>
      {isDeployed && <Chip word={t`Deployed`} icon={CircleCheck} tone="good" />}
      {revision.number > 1 && (
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {t`What changed`}
        </Button>
      )}
      {playbook.may_edit && !isDeployed && (
        <Button
          variant="default"
          size="compact-sm"
          loading={deploy.isPending}
          aria-label={t`Deploy revision ${revision.number}`}
          onClick={start}
        >
          {t`Deploy`}
        </Button>
      )}
      {opened && <Changes playbookId={playbook.id} number={revision.number} />}
    </li>
  );
}

function Changes({ playbookId, number }: { playbookId: string; number: number }) {
  const project = useProject();
  const query = useQuery(revisionDiffQuery(project.id, playbookId, number - 1, number));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={40} aria-busy />;
  if (query.data.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        {t`Only how it is written.`}
      </Text>
    );
  }
  return (
    <ul className={classes.lines} aria-label={t`What revision ${number} changed`}>
      {query.data.map((line, index) => (
        <li key={index}>{line}</li>
      ))}
    </ul>
  );
}
