/** Deploys a version: with a message, after its checks, with a look at what it pins. */
import { t } from '@lingui/core/macro';
import { Modal, Select, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { type SyntheticEvent, useState } from 'react';
import { type Finding, preparationQuery, useDeploy } from '@/api/deployments';
import { ApiError } from '@/api/errors';
import type { PlaybookDetail, PlaybookRevision } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';
import { PinChanges } from './Pins';
import { WhoseChanges } from './WhoseChanges';
import classes from './versions.module.css';

interface Props {
  playbook: PlaybookDetail;
  revisions: readonly PlaybookRevision[];
  onClose: () => void;
}

export function DeployDialog({ playbook, revisions, onClose }: Props) {
  const project = useProject();
  const [revision, setRevision] = useState(playbook.head);
  const [message, setMessage] = useState('');
  const ready = useQuery(preparationQuery(project.id, playbook.id, revision));
  const deploy = useDeploy(project.id, playbook.id);
  const differs = deploy.error instanceof ApiError && deploy.error.code === 'tests-differ';
  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    deploy.mutate(
      { revision, message, despite_tests: differs },
      {
        onSuccess: () => {
          showDone(t`Revision ${revision} is deployed`);
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t`Deploy ${playbook.name}`} size="lg">
      <form onSubmit={send}>
        <Stack>
          <Select
            label={t`Version`}
            data={revisions.map(({ number, message: said }) => ({
              value: String(number),
              label:
                number === playbook.deployed
                  ? t`${number}. ${said} (deployed)`
                  : `${number}. ${said}`,
            }))}
            value={String(revision)}
            allowDeselect={false}
            onChange={(next) => setRevision(Number(next))}
          />
          <WhoseChanges
            {...{ playbookId: playbook.id, revisions, deployed: playbook.deployed, revision }}
          />
          <TextInput
            label={t`Message`}
            description={t`Why, for the list of deployments.`}
            maxLength={400}
            value={message}
            onChange={({ currentTarget }) => setMessage(currentTarget.value)}
          />
          {ready.isError && <ErrorState error={ready.error} retry={() => void ready.refetch()} />}
          {ready.isPending && <Skeleton height={80} aria-busy />}
          {ready.data && (
            <>
              <div>
                <Text size="sm" fw={600}>
                  {t`Checks`}
                </Text>
                <ul className={classes.list}>
                  {ready.data.checks.map((finding, index) => (
                    <li key={index}>
                      <FindingLine finding={finding} />
                    </li>
                  ))}
                </ul>
              </div>
              <div>
                <Text size="sm" fw={600}>
                  {t`${ready.data.pins.length} parts are pinned by hash`}
                </Text>
                {playbook.deployed !== null && (
                  <PinChanges
                    changes={ready.data.changed}
                    none={t`All parts are as in the version that runs now.`}
                  />
                )}
              </div>
            </>
          )}
          <FormError error={deploy.error} />
          <FormFooter
            submit={differs ? t`Deploy despite the tests` : t`Deploy revision ${revision}`}
            isPending={deploy.isPending}
            isDisabled={ready.data?.may_deploy !== true}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

const LOOKS = {
  passed: { word: t`Passed`, icon: CircleCheck, tone: 'good' },
  warning: { word: t`Warning`, icon: TriangleAlert, tone: 'wait' },
  failed: { word: t`Failed`, icon: CircleX, tone: 'bad' },
} as const;

export function FindingLine({ finding }: { finding: Finding }) {
  return (
    <span className={classes.finding}>
      <Chip {...LOOKS[finding.state]} />
      <span>{finding.message}</span>
    </span>
  );
}
