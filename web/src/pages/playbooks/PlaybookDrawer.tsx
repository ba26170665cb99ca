/** One playbook over the library: run it, what ran, when it runs by itself, its versions, its text, and who may do what. */
import { t } from '@lingui/core/macro';
import { Drawer, Skeleton, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { usePersonName } from '@/api/members';
import { type PlaybookDetail, playbookQuery } from '@/api/playbooks';
import { useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { TabStrip } from '@/components/TabStrip';
import { useSearchParam } from '@/components/use-search-param';
import { OTHER_DATA } from './other-data';
import classes from './playbooks.module.css';
import { STATES } from './states';

const RunTab = lazy(() => import('./RunTab'));
const PastRunsTab = lazy(() => import('./PastRunsTab'));
const ScheduleTab = lazy(() => import('./ScheduleTab'));
const VersionsTab = lazy(() => import('./VersionsTab'));
const TextTab = lazy(() => import('./TextTab'));
const SettingsTab = lazy(() => import('./SettingsTab'));

const TABS = [
  { id: 'run', label: t`Run`, content: RunTab, edits: false, looks: false },
  { id: 'runs', label: t`Past runs`, content: PastRunsTab, edits: false, looks: false },
  { id: 'schedule', label: t`Schedule`, content: ScheduleTab, edits: false, looks: true },
  { id: 'versions', label: t`Versions`, content: VersionsTab, edits: false, looks: true },
  { id: 'text', label: t`Text`, content: TextTab, edits: false, looks: true },
  {
    id: 'settings',
    label: t`Sharing and settings`,
    content: SettingsTab,
    edits: true,
    looks: true,
  },
];

interface Props {
  /** Undefined while none is open. */
  playbookId: string | undefined;
  onClose: () => void;
}

export function PlaybookDrawer({ playbookId, onClose }: Props) {
  // It keeps its content while it slides away.
  const [last, setLast] = useState(playbookId);
  if (playbookId !== undefined && playbookId !== last) setLast(playbookId);
  const project = useProject();
  const [overIt] = useSearchParam(OTHER_DATA);
  const shown = playbookId ?? last;
  const { data } = useQuery({
    ...playbookQuery(project.id, shown ?? ''),
    enabled: playbookId !== undefined,
  });
  useTitle(playbookId === undefined ? undefined : data?.name, project.name);
  return (
    <Drawer
      opened={playbookId !== undefined}
      onClose={onClose}
      position="right"
      size="54rem"
      // Escape closes the dialog over it first.
      closeOnEscape={overIt === null}
      // Whoever opens it by its address has no place to return to but the card: the library looks after that.
      returnFocus={false}
      title={
        <span className={classes.drawerTitle}>
          {data?.name ?? t`Playbook`}
          {data && <Chip {...STATES[data.state]} />}
        </span>
      }
      closeButtonProps={{ 'aria-label': t`Close` }}
      classNames={{ title: classes.drawerHeading ?? '', body: classes.drawerBody ?? '' }}
    >
      {shown !== undefined && <Details key={shown} playbookId={shown} />}
    </Drawer>
  );
}

function useTitle(name: string | undefined, projectName: string): void {
  useEffect(() => {
    if (name === undefined) return;
    const before = document.title;
    document.title = [name, projectName, 'Steward'].join(' · ');
    return () => {
      document.title = before;
    };
  }, [name, projectName]);
}

function Details({ playbookId }: { playbookId: string }) {
  const project = useProject();
  const query = useQuery(playbookQuery(project.id, playbookId));
  const [wanted, setWanted] = useSearchParam('tab');
  const playbook = query.data;
  const mayEdit = playbook?.may_edit === true || playbook?.state === 'archived';
  const mayLook = useMay('viewer');
  if (query.isError && !playbook) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!playbook) return <Skeleton height={160} aria-busy />;
  const shown = TABS.filter(({ edits, looks }) => (!edits || mayEdit) && (!looks || mayLook));
  const tab = shown.some(({ id }) => id === wanted) ? (wanted ?? 'run') : 'run';
  return (
    <>
      <Facts playbook={playbook} projectId={project.id} />
      <Tabs
        value={tab}
        onChange={(id) => setWanted(id === 'run' ? null : id)}
        keepMounted={false}
        mt="sm"
      >
        <TabStrip tabs={shown} value={tab} />
        <Suspense fallback={<Skeleton height={160} mt="md" aria-busy />}>
          {shown.map(({ id, content: Content }) => (
            <Tabs.Panel key={id} value={id} pt="md">
              <Content playbook={playbook} />
            </Tabs.Panel>
          ))}
        </Suspense>
      </Tabs>
    </>
  );
}

function Facts({ playbook, projectId }: { playbook: PlaybookDetail; projectId: string }) {
  const owner = usePersonName(projectId)(playbook.owner);
  const mayLook = useMay('viewer');
  const facts = [
    owner === null ? '' : t`Owned by ${owner}`,
    playbook.folder,
    mayLook ? deployment(playbook) : '',
  ];
  return (
    <Text c="dimmed" size="sm" maw="44rem">
      {playbook.goal}
      {playbook.goal !== '' && <br />}
      {facts.filter(Boolean).join(' · ')}
    </Text>
  );
}

function deployment({ deployed, head }: PlaybookDetail): string {
  return deployed === null ? t`nothing deployed yet` : t`revision ${deployed} of ${head} deployed`;
}
