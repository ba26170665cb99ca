/** Runs that are over, to be run again: with the same version or the deployed one, from the start, a step or where each failed. */
import { plural, t } from '@lingui/core/macro';
import { Anchor, Button, Group, Radio, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { type RetryWish, revisionQuery, useRetry } from '@/api/deployments';
import { itemsOf } from '@/api/lists';
import { type PlaybookDetail, type PlaybookRun, playbookRunsQuery } from '@/api/playbooks';
import { isFinal } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { StatusChip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { FormError } from '@/components/FormError';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { readYaml } from '@/flows/document';
import { type Language, readGraph } from '@/flows/graph';

const START = 'start';
const FAILURE = 'failure';
/** Of a step: no step is called the same as one of the choices above. */
const AT = 'at:';

interface Props {
  playbook: PlaybookDetail;
  language: Language;
}

export function RunsTab({ playbook, language }: Props) {
  const project = useProject();
  const query = useInfiniteQuery(playbookRunsQuery(project.id, playbook.id));
  const retry = useRetry(project.id, playbook.id);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [version, setVersion] = useState<RetryWish['version']>('deployed');
  const [wanted, setWanted] = useState(START);
  const over = itemsOf(query.data).filter(({ status }) => isFinal(status));
  const failed = over.filter(({ status }) => status === 'failed').map(({ id }) => id);
  const steps = useSteps(playbook, revisionsOf(playbook, version, over, chosen), language);
  const isKnown = !wanted.startsWith(AT) || steps.some(({ value }) => value === wanted);
  const from = isKnown ? wanted : START;
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const columns: Column<PlaybookRun>[] = [
    {
      id: 'chosen',
      header: t`Chosen`,
      quietHeader: true,
      width: '3rem',
      cell: (run) => (
        <input
          type="checkbox"
          aria-label={t`Run ${run.id} again`}
          checked={chosen.has(run.id)}
          onChange={({ currentTarget }) => choose(run.id, currentTarget.checked)}
        />
      ),
    },
    {
      id: 'when',
      header: t`Started`,
      cell: (run) => (
        <Anchor component={Link} to={projectPath(project.id, 'runs', run.id)} size="sm">
          <RelativeTime value={run.created_at} />
        </Anchor>
      ),
    },
    {
      id: 'status',
      header: t`Status`,
      width: '11rem',
      cell: (run) => <StatusChip status={run.status} title={run.reason ?? undefined} />,
    },
    { id: 'revision', header: t`Revision`, width: '7rem', cell: (run) => run.revision ?? '–' },
    { id: 'reason', header: t`Why`, hideBelow: 'md', cell: (run) => run.reason ?? '' },
  ];
  const send = () =>
    retry.mutate(
      {
        runs: [...chosen],
        version,
        from_failure: from === FAILURE,
        ...(from.startsWith(AT) && { at: from.slice(AT.length) }),
      },
      {
        onSuccess: (items) => {
          const begun = items.filter(({ run }) => run !== null).length;
          const refused = items.filter(({ problem }) => problem !== null);
          if (begun > 0)
            showDone(
              plural(begun, { one: `The run has started`, other: `${begun} runs have started` }),
            );
          const [first] = refused;
          if (first) showFailure(new Error(first.problem ?? ''));
          setChosen(new Set(refused.map(({ source }) => source)));
        },
      },
    );
  return (
    <Stack>
      {playbook.may_run && over.length > 0 && (
        <Group align="flex-end" gap="xl">
          <Radio.Group label={t`Version`} value={version} onChange={(next) => setVersion(next)}>
            <Group gap="md" mt={4}>
              <Radio value="same" label={t`The same as before`} />
              <Radio
                value="deployed"
                label={playbook.deployed === null ? t`Newest` : t`Deployed (${playbook.deployed})`}
              />
            </Group>
          </Radio.Group>
          <Select
            label={t`From (earlier outcomes are kept)`}
            w="18rem"
            maw="100%"
            allowDeselect={false}
            searchable={steps.length > 10}
            data={[
              { value: START, label: t`The start` },
              { value: FAILURE, label: t`The step that failed` },
              ...(steps.length > 0 ? [{ group: t`Steps`, items: steps }] : []),
            ]}
            value={from}
            onChange={(next) => setWanted(next ?? START)}
          />
          <Button
            leftSection={<RotateCcw size={14} aria-hidden />}
            disabled={chosen.size === 0}
            loading={retry.isPending}
            onClick={send}
          >
            {chosen.size > 1 ? t`Run ${chosen.size} again` : t`Run again`}
          </Button>
          {failed.length > 0 && (
            <Button variant="default" onClick={() => setChosen(new Set(failed))}>
              {plural(failed.length, {
                one: `Choose the one that failed`,
                other: `Choose all ${failed.length} that failed`,
              })}
            </Button>
          )}
        </Group>
      )}
      <FormError error={retry.error} />
      <DataTable
        label={t`Runs that are over`}
        columns={columns}
        query={query}
        rowKey={(run) => run.id}
        filter={({ status }) => isFinal(status)}
        empty={
          <EmptyState icon={Play} title={t`No run is over yet`}>
            <Text size="sm">{t`Runs show here once they have ended.`}</Text>
          </EmptyState>
        }
      />
    </Stack>
  );
}

/** The versions that the runs would have: of those the steps to start from are. */
function revisionsOf(
  playbook: PlaybookDetail,
  version: RetryWish['version'],
  over: readonly PlaybookRun[],
  chosen: ReadonlySet<string>,
): number[] {
  if (version !== 'same') return [playbook.deployed ?? playbook.head];
  const known = over.filter(({ id }) => chosen.has(id)).map(({ revision }) => revision);
  return [...new Set(known.filter((each) => each !== null))];
}

/** Steps that all of these versions have, as choices. */
function useSteps(playbook: PlaybookDetail, revisions: readonly number[], language: Language) {
  const project = useProject();
  const found = useQueries({
    queries: revisions.map((each) => revisionQuery(project.id, playbook.id, each)),
  });
  const lists = found.map(({ data }) =>
    data === undefined
      ? []
      : readGraph(readYaml(data.text).value, language).nodes.map(({ id, title }) => ({
          value: `${AT}${id}`,
          label: title && title !== id ? `${title} (${id})` : id,
        })),
  );
  const [first = [], ...others] = lists;
  return first.filter(({ value }) =>
    others.every((list) => list.some((other) => other.value === value)),
  );
}
