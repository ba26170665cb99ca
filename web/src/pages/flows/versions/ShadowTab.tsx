/** A version in the shadow of the deployed one: started, ended, and run by run what differs. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX, Copy, Hourglass } from 'lucide-react';
import { useState } from 'react';
import {
  type Shadow,
  type ShadowComparison,
  shadowComparisonsQuery,
  shadowQuery,
  useShadow,
} from '@/api/deployments';
import type { PlaybookDetail } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import classes from './versions.module.css';

const KINDS: Record<ShadowComparison['differences'][number]['kind'], string> = {
  end: t`How it ended`,
  output: t`Output of the run`,
  step: t`Output of step`,
  call: t`Call`,
  agent: t`Agent`,
};

const LOOK_AGAIN = 5_000;

/** Whether its figures still change by themselves. */
function isUnderWay(shadow: Shadow | null | undefined): boolean {
  return shadow?.ended_at === null || (shadow?.under_way ?? 0) > 0;
}

export function ShadowTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const query = useQuery({
    ...shadowQuery(project.id, playbook.id),
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? LOOK_AGAIN : false),
  });
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.data === undefined) return <LoadingLines />;
  const shadow = query.data;
  const isOver = shadow?.ended_at !== null;
  return (
    <Stack>
      {shadow !== null && (
        <Text fw={600} role="status">
          {t`Revision ${shadow.revision}: ${shadow.equal} of ${shadow.compared} runs equal`}
          {shadow.under_way > 0 && t`, ${shadow.under_way} under way`}
          {shadow.failed > 0 && t`, ${shadow.failed} not comparable`}
          {isOver ? t`. It has ended.` : t` (${shadow.percent}% of the runs).`}
        </Text>
      )}
      {playbook.may_edit && playbook.state === 'active' && (
        <Controls playbook={playbook} isOver={isOver} />
      )}
      {shadow === null ? (
        <EmptyState icon={Copy} title={t`No version ran in shadow yet`}>
          {t`Run another version beside the deployed one. It sends nothing and changes nothing.`}
        </EmptyState>
      ) : (
        <Comparisons playbook={playbook} isLive={isUnderWay(shadow)} />
      )}
    </Stack>
  );
}

function Controls({ playbook, isOver }: { playbook: PlaybookDetail; isOver: boolean }) {
  const project = useProject();
  const change = useShadow(project.id, playbook.id);
  const [percent, setPercent] = useState<number | string>(100);
  const [spend, setSpend] = useState(false);
  if (!isOver) {
    return (
      <Group>
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() =>
            change.mutate(null, {
              onSuccess: () => showDone(t`The shadow has ended`),
              onError: showFailure,
            })
          }
        >
          {t`End the shadow`}
        </Button>
      </Group>
    );
  }
  if (playbook.head === playbook.deployed) return null;
  return (
    <Group align="flex-end">
      <NumberInput
        label={t`Repeat runs with revision ${playbook.head}, without effects`}
        suffix=" %"
        min={1}
        max={100}
        w="22rem"
        value={percent}
        onChange={setPercent}
      />
      <Switch
        mb="xs"
        label={t`Its agents may ask models, which costs money`}
        checked={spend}
        onChange={({ currentTarget }) => setSpend(currentTarget.checked)}
      />
      <Button
        loading={change.isPending}
        disabled={typeof percent !== 'number'}
        onClick={() =>
          change.mutate(
            { revision: playbook.head, percent: Number(percent), spend },
            {
              onSuccess: () => showDone(t`Revision ${playbook.head} runs in shadow`),
              onError: showFailure,
            },
          )
        }
      >
        {t`Start the shadow`}
      </Button>
    </Group>
  );
}

function Comparisons({ playbook, isLive }: { playbook: PlaybookDetail; isLive: boolean }) {
  const project = useProject();
  const query = useInfiniteQuery(shadowComparisonsQuery(project.id, playbook.id, isLive));
  const runLink = (id: string, told: React.ReactNode) => (
    <Anchor component={Link} to={projectPath(project.id, 'runs', id)} size="sm">
      {told}
    </Anchor>
  );
  const columns: Column<ShadowComparison>[] = [
    {
      id: 'live',
      header: t`Live run`,
      width: '9rem',
      cell: (item) => runLink(item.live_id, <RelativeTime value={item.live_ended_at} />),
    },
    { id: 'outcome', header: t`Outcome`, width: '9rem', cell: (item) => <Outcome item={item} /> },
    {
      id: 'shadow',
      header: t`Shadow`,
      width: '7rem',
      cell: (item) => (item.shadow_id === null ? '–' : runLink(item.shadow_id, t`Open`)),
    },
    {
      id: 'time',
      header: t`Seconds, live → shadow`,
      hideBelow: 'md',
      cell: (item) => `${item.live_seconds ?? '–'} → ${item.shadow_seconds ?? '–'}`,
    },
    {
      id: 'cost',
      header: t`Dollars, live → shadow`,
      hideBelow: 'md',
      cell: (item) => `${item.live_usd ?? '–'} → ${item.shadow_usd ?? '–'}`,
    },
    {
      id: 'differences',
      header: t`What differs`,
      ownLine: true,
      cell: (item) => <Differences item={item} />,
    },
  ];
  return (
    <DataTable
      label={t`Runs beside their shadows`}
      columns={columns}
      query={query}
      rowKey={(item) => item.live_id}
      empty={
        <EmptyState icon={Hourglass} title={t`No run has ended since`}>
          {t`Each run of the deployed version shows here once it and its shadow have ended.`}
        </EmptyState>
      }
    />
  );
}

function Outcome({ item }: { item: ShadowComparison }) {
  if (item.state === 'failed') return <Chip word={t`Not comparable`} icon={CircleX} tone="bad" />;
  if (item.equal === null) return <Chip word={t`Under way`} icon={Hourglass} tone="busy" />;
  return item.equal ? (
    <Chip word={t`Equal`} icon={CircleCheck} tone="good" />
  ) : (
    <Chip word={t`Different`} icon={CircleX} tone="bad" />
  );
}

function Differences({ item }: { item: ShadowComparison }) {
  if (item.problem !== null) return <Text size="sm">{item.problem}</Text>;
  return (
    <Stack gap={4}>
      {item.differences.map((each, index) => (
        <section key={index} aria-label={placeOf(each)}>
          <Text size="sm" fw={600}>
            {placeOf(each)}
          </Text>
          <Text size="sm" className={classes.value}>
            {t`Live: ${each.live || t`nothing`}`}
          </Text>
          <Text size="sm" className={classes.value}>
            {t`Shadow: ${each.shadow || t`nothing`}`}
          </Text>
        </section>
      ))}
    </Stack>
  );
}

function placeOf({ kind, at }: ShadowComparison['differences'][number]): string {
  return at === 'run' ? KINDS[kind] : `${KINDS[kind]} ${at}`;
}
