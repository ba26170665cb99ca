/** One playbook: run it, what ran, when it runs by itself, its versions, its text, and who may do what. */
import { Skeleton, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { usePersonName } from '@/api/members';
import { type PlaybookDetail, playbookQuery } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import classes from './playbooks.module.css';
import { STATES } from './states';

const RunTab = lazy(() => import('./RunTab'));
const PastRunsTab = lazy(() => import('./PastRunsTab'));
const ScheduleTab = lazy(() => import('./ScheduleTab'));
const VersionsTab = lazy(() => import('./VersionsTab'));
const TextTab = lazy(() => import('./TextTab'));
const SettingsTab = lazy(() => import('./SettingsTab'));

const TABS = [
  { id: 'run', label: 'Run', content: RunTab, edits: false, looks: false },
  { id: 'runs', label: 'Past runs', content: PastRunsTab, edits: false, looks: false },
  { id: 'schedule', label: 'Schedule', content: ScheduleTab, edits: false, looks: true },
  { id: 'versions', label: 'Versions', content: VersionsTab, edits: false, looks: true },
  { id: 'text', label: 'Text', content: TextTab, edits: false, looks: true },
  { id: 'settings', label: 'Settings', content: SettingsTab, edits: true, looks: true },
];

export default function PlaybookPage() {
  const playbookId = usePathParam('playbookId') ?? '';
  const project = useProject();
  const query = useQuery(playbookQuery(project.id, playbookId));
  const navigate = useNavigate();
  const [wanted] = useSearchParam('tab');
  const playbook = query.data;
  const mayEdit = playbook?.may_edit === true || playbook?.state === 'archived';
  const mayLook = useMay('viewer');
  const shown = TABS.filter(({ edits, looks }) => (!edits || mayEdit) && (!looks || mayLook));
  const tab = shown.some(({ id }) => id === wanted) ? (wanted ?? 'run') : 'run';
  const open = (id: string | null) =>
    void navigate({ to: '.', search: id === 'run' || id === null ? {} : { tab: id } });
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Page
        title={playbook?.name ?? 'Playbook'}
        parent={{ label: 'Playbooks', to: projectPath(project.id, 'playbooks') }}
        description={playbook && <Facts playbook={playbook} projectId={project.id} />}
        actions={playbook && <Chip {...STATES[playbook.state]} />}
        toolbar={
          <Tabs.List className={classes.tabs ?? ''}>
            {shown.map(({ id, label }) => (
              <Tabs.Tab key={id} value={id}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        }
      >
        {query.isError && !playbook && (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <Skeleton height={160} aria-busy />}
        {playbook && (
          <Suspense fallback={<Skeleton height={160} aria-busy />}>
            {shown.map(({ id, content: Content }) => (
              <Tabs.Panel key={id} value={id}>
                <Content playbook={playbook} />
              </Tabs.Panel>
            ))}
          </Suspense>
        )}
      </Page>
    </Tabs>
  );
}

function Facts({ playbook, projectId }: { playbook: PlaybookDetail; projectId: string }) {
  const owner = usePersonName(projectId)(playbook.owner);
  const mayLook = useMay('viewer');
  const facts = [
    owner === null ? '' : `Owned by ${owner}`,
    playbook.folder,
    mayLook ? deployment(playbook) : '',
  ];
  return (
    <>
      {playbook.goal}
      {playbook.goal !== '' && <br />}
      {facts.filter(Boolean).join(' · ')}
    </>
  );
}

function deployment({ deployed, head }: PlaybookDetail): string {
  return deployed === null ? 'nothing deployed yet' : `revision ${deployed} of ${head} deployed`;
}
