/** One agent: composed, tried, compared with its versions, and what it did and cost. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Skeleton, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Archive, Copy } from 'lucide-react';
import { type AgentDetail, agentQuery, useArchiveAgent, useRestoreAgent } from '@/api/agents';
import { useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { RiskChip } from '@/components/RiskChip';
import { TabStrip } from '@/components/TabStrip';
import { offerUndo, showFailure } from '@/components/undo';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { AgentFigures } from './AgentFigures';
import { AgentNotes } from './AgentNotes';
import { AgentVersions } from './AgentVersions';
import { Composer } from './Composer';
import { TryAgent } from './TryAgent';

const TABS = [
  { id: 'compose', label: t`Compose` },
  { id: 'try', label: t`Try it` },
  { id: 'memory', label: t`Memory` },
  { id: 'versions', label: t`Versions` },
  { id: 'figures', label: t`Figures` },
];

export default function AgentPage() {
  const name = usePathParam('agent') ?? '';
  const project = useProject();
  const query = useQuery(agentQuery(project.id, name));
  const parent = { label: t`Agents`, to: `/p/${project.id}/agents` };
  if (!query.data) {
    return (
      <Page title={name} parent={parent}>
        {query.isError ? (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        ) : (
          <Skeleton height={240} aria-busy />
        )}
      </Page>
    );
  }
  return <Loaded agent={query.data} parent={parent} />;
}

interface Props {
  agent: AgentDetail;
  parent: { label: string; to: string };
}

function Loaded({ agent, parent }: Props) {
  const navigate = useNavigate();
  const [wanted] = useSearchParam('tab');
  const isOwn = agent.origin === 'project';
  const tabs = TABS.filter(
    ({ id }) => isOwn || (id === 'memory' ? Boolean(agent.document.memory) : id !== 'versions'),
  ).map((tab) => (tab.id === 'compose' && !isOwn ? { ...tab, label: t`What it is` } : tab));
  const tab = tabs.some(({ id }) => id === wanted) ? wanted : 'compose';
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(id) =>
        void navigate({ to: '.', search: id === 'compose' || id === null ? {} : { tab: id } })
      }
    >
      <Page
        title={agent.title}
        description={agent.description}
        parent={parent}
        actions={<Actions agent={agent} />}
        toolbar={<TabStrip tabs={tabs} value={tab} />}
      >
        {agent.archived && (
          <Alert variant="light" color="yellow">
            {t`Archived. Flows can no longer name it. To bring it back, restore a version.`}
          </Alert>
        )}
        <Tabs.Panel value="compose">
          {/* A version that somebody else saved starts the form again. */}
          <Composer key={agent.version} agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="try">
          <TryAgent agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="memory">
          <AgentNotes agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <AgentVersions agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="figures">
          <AgentFigures name={agent.name} />
        </Tabs.Panel>
      </Page>
    </Tabs>
  );
}

function Actions({ agent }: { agent: AgentDetail }) {
  const project = useProject();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const archive = useArchiveAgent(project.id);
  const restore = useRestoreAgent(project.id);
  const { name, title, version } = agent;
  const onArchive = () =>
    archive.mutate(
      { name, version },
      {
        onSuccess: ({ version: made }) => {
          offerUndo({
            message: t`${title} archived`,
            undo: () => restore.mutateAsync({ name, version: made, wanted: version }),
            undone: t`${title} is back`,
          });
          void navigate({ to: `/p/${project.id}/agents` });
        },
        onError: showFailure,
      },
    );
  return (
    <>
      <RiskChip risk={agent.highest_risk} />
      {mayEdit && (
        <Button
          variant="default"
          leftSection={<Copy size={14} aria-hidden />}
          onClick={() =>
            void navigate({ to: `/p/${project.id}/agents`, search: { from: agent.name } })
          }
        >
          {t`Start from this`}
        </Button>
      )}
      {mayEdit && agent.origin === 'project' && !agent.archived && (
        <Button
          variant="default"
          leftSection={<Archive size={14} aria-hidden />}
          loading={archive.isPending}
          onClick={onArchive}
        >
          {t`Archive`}
        </Button>
      )}
    </>
  );
}
