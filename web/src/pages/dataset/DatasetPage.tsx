/** One dataset: its rows, what is in them, what can be done to them and what was done. */
import { t } from '@lingui/core/macro';
import { Alert, Stack, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import type { Dataset } from '@/api/data-types';
import { datasetQuery } from '@/api/datasets';
import { usePersonName } from '@/api/members';
import { projectPath, useMay, useProject } from '@/app/project';
import { useDataUndoKeys } from '@/components/data-undo';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { RelativeTime } from '@/components/Moment';
import { operationName } from '@/components/operation-name';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { DatasetLinks } from './DatasetLinks';
import { ExportMenu } from './ExportMenu';

interface Tab {
  id: string;
  label: string;
  component: ComponentType<{ dataset: Dataset }>;
}

const TABS: Tab[] = [
  { id: 'data', label: t`Data`, component: lazy(() => import('./data/DataTab')) },
  { id: 'profile', label: t`Profile`, component: lazy(() => import('./profile/ProfileTab')) },
  { id: 'charts', label: t`Charts`, component: lazy(() => import('./charts/ChartsTab')) },
  { id: 'clean', label: t`Clean`, component: lazy(() => import('./clean/CleanTab')) },
  { id: 'history', label: t`History`, component: lazy(() => import('./history/HistoryTab')) },
  { id: 'compare', label: t`Compare`, component: lazy(() => import('./diff/CompareTab')) },
];

/** Tabs that work on rows that stay where they are. */
const THERE = new Set(['profile', 'history']);

export default function DatasetPage() {
  const project = useProject();
  const name = usePathParam('dataset') ?? '';
  const query = useQuery(datasetQuery(project.id, name));
  const navigate = useNavigate();
  const mayChange = useMay('editor');
  useDataUndoKeys(project.id, mayChange);
  const [wanted] = useSearchParam('tab');
  const tab = TABS.find(({ id }) => id === wanted) ?? TABS[0];
  useEffect(() => {
    // On small screens the row of tabs scrolls, and a link may open one that is out of sight.
    const chosen = document.querySelector('[role="tab"][aria-selected="true"]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab?.id]);
  // Another tab starts without the filters and dialogs of this one.
  const open = (id: string | null) =>
    void navigate({ to: '.', search: id === 'data' || id === null ? {} : { tab: id } });
  return (
    <Tabs value={tab?.id ?? 'data'} onChange={open} keepMounted={false}>
      <Page
        title={name}
        width="full"
        parent={{ label: t`Datasets`, to: projectPath(project.id, 'datasets') }}
        description={query.data && <Facts dataset={query.data} projectId={project.id} />}
        actions={
          <>
            {mayChange && <DatasetLinks projectId={project.id} dataset={name} />}
            <ExportMenu projectId={project.id} dataset={name} />
          </>
        }
        toolbar={<TabStrip tabs={TABS} value={tab?.id} />}
      >
        {query.isError && !query.data ? (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        ) : (
          TABS.map(({ id, component: Content }) => (
            <Tabs.Panel key={id} value={id}>
              <Suspense fallback={<LoadingLines />}>
                {!query.data ? (
                  <LoadingLines />
                ) : query.data.stays_at && !THERE.has(id) ? (
                  <Stays dataset={query.data} place={query.data.stays_at} />
                ) : (
                  <Content dataset={query.data} />
                )}
              </Suspense>
            </Tabs.Panel>
          ))
        )}
      </Page>
    </Tabs>
  );
}

/** What can be done with rows that were not copied, and how to get the rest. */
function Stays({ dataset, place }: { dataset: Dataset; place: string }) {
  return (
    <Stack gap="sm">
      <Alert variant="light">
        {t`The rows of this dataset stay at the connection “${place}”. Ask about them in the chat or with SQL: the question runs there. To edit, clean, chart or join them, load a copy.`}
      </Alert>
      <Text size="sm">
        {dataset.columns.map(({ name, type }) => `${name} (${type})`).join(', ')}
      </Text>
    </Stack>
  );
}

function Facts({ dataset, projectId }: { dataset: Dataset; projectId: string }) {
  const formats = useFormats();
  const nameOf = usePersonName(projectId);
  const { rows, columns, bytes, changed_at, changed_by, operation } = dataset;
  const person = changed_by === null ? null : nameOf(changed_by);
  return (
    <>
      {t`${formats.number(rows)} rows · ${columns.length} columns · ${formats.bytes(bytes)}`}
      {changed_at !== null && (
        <>
          {` · ${operation === null ? t`changed` : operationName(operation)} `}
          <RelativeTime value={changed_at} />
          {person !== null && t` by ${person}`}
        </>
      )}
    </>
  );
}
