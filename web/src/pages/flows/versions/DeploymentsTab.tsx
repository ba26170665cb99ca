/** The deployments of a flow, newest first: who deployed what and why, what each pins, and the way back. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { CircleCheck, FlaskConical, Rocket, Undo2 } from 'lucide-react';
import { useState } from 'react';
import {
  type Deployment,
  deploymentQuery,
  deploymentsQuery,
  useRollBackTo,
} from '@/api/deployments';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import type { PlaybookDetail } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { FindingLine } from './DeployDialog';
import { PinChanges, PinTable } from './Pins';
import classes from './versions.module.css';

const WAYS: Record<Deployment['kind'], string> = {
  deploy: t`Deployed`,
  rollback: t`Rolled back to`,
  canary: t`Tried on a share of the runs:`,
  shadow: 'Ran in shadow:',
};

/** They never ran for everyone: there is nothing to go back to. */
const TRIED: ReadonlySet<Deployment['kind']> = new Set(['canary', 'shadow']);

export function DeploymentsTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const query = useInfiniteQuery(deploymentsQuery(project.id, playbook.id));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const found = itemsOf(query.data);
  if (found.length === 0) {
    return (
      <EmptyState icon={Rocket} title={t`No deployments yet`}>
        {t`Deploy a version; then people and triggers run it.`}
      </EmptyState>
    );
  }
  return (
    <Stack>
      <ol className={classes.deployments} reversed>
        {found.map((deployment) => (
          <Line key={deployment.number} deployment={deployment} playbook={playbook} />
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
  deployment: Deployment;
  playbook: PlaybookDetail;
}

function Line({ deployment, playbook }: LineProps) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const back = useRollBackTo(project.id, playbook.id);
  const [opened, setOpened] = useState(false);
  const isInForce = playbook.deployment === deployment.number;
  const isTried = playbook.canary?.deployment === deployment.number;
  return (
    <li className={classes.deployment}>
      <div className={classes.grow}>
        <Text size="sm" fw={600}>
          {t`${deployment.number}. ${WAYS[deployment.kind]} revision ${deployment.revision}`}
        </Text>
        {deployment.message !== '' && <Text size="sm">{deployment.message}</Text>}
        <Text size="xs" c="dimmed">
          {nameOf(deployment.author) ?? t`Somebody who left`}{' '}
          <RelativeTime value={deployment.created_at} />
        </Text>
      </div>
      {isInForce && <Chip word={t`In force`} icon={CircleCheck} tone="good" />}
      {isTried && <Chip word={t`On trial`} icon={FlaskConical} tone="busy" />}
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
      >
        {t`What it pins`}
      </Button>
      {playbook.may_edit && !isInForce && !TRIED.has(deployment.kind) && (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Undo2 size={13} aria-hidden />}
          loading={back.isPending}
          onClick={() =>
            back.mutate(deployment.number, {
              onSuccess: () => showDone(t`Deployment ${deployment.number} is in force again`),
              onError: showFailure,
            })
          }
        >
          {t`Go back to deployment ${deployment.number}`}
        </Button>
      )}
      {opened && <Details playbookId={playbook.id} number={deployment.number} />}
    </li>
  );
}

function Details({ playbookId, number }: { playbookId: string; number: number }) {
  const project = useProject();
  const query = useQuery(deploymentQuery(project.id, playbookId, number));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={60} aria-busy />;
  const { pins, checks, drift } = query.data;
  return (
    <Stack gap="sm" className={classes.details ?? ''}>
      <div>
        <Text size="sm" fw={600}>
          {t`Changed since this deployment`}
        </Text>
        <PinChanges changes={drift} none={t`Every part is still what it was.`} />
      </div>
      <PinTable pins={pins} />
      <div>
        <Text size="sm" fw={600}>
          {t`Checks when it was deployed`}
        </Text>
        <ul className={classes.list}>
          {checks.map((finding, index) => (
            <li key={index}>
              <FindingLine finding={finding} />
            </li>
          ))}
        </ul>
      </div>
    </Stack>
  );
}
