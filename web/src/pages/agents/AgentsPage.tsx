/** All agents that flows can name: the project's own, those to start from, those of the chat. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bot, Plus } from 'lucide-react';
import { type AgentCard, agentsQuery, useRestoreAgent } from '@/api/agents';
import { useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { RiskChip } from '@/components/RiskChip';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { NewAgentDialog } from './NewAgentDialog';
import classes from './agents.module.css';

export default function AgentsPage() {
  const project = useProject();
  const mayEdit = useMay('editor');
  const query = useQuery(agentsQuery(project.id));
  const dialog = useDialog('compose');
  const [from, setFrom] = useSearchParam('from');
  const agents = query.data ?? [];
  const own = agents.filter(({ origin }) => origin === 'project');
  const brought = agents.filter(({ origin }) => origin === 'plugin');
  const begin = mayEdit ? (name: string) => setFrom(name) : null;
  return (
    <Page
      title={t`Agents`}
      description={t`An agent has instructions, a model, tools, guardrails and a budget. Compose your own, start from one of the library, and use it by name in a flow.`}
      actions={
        mayEdit && (
          <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
            {t`Compose an agent`}
          </Button>
        )
      }
    >
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.isPending && <Skeleton height={160} aria-busy />}
      {query.data && (
        <>
          <Section title={t`Agents of this project`}>
            {own.length === 0 ? (
              <EmptyState icon={Bot} picture="cards" title={t`No agents yet`}>
                {t`Compose one, or start from an agent of the library below.`}
              </EmptyState>
            ) : (
              <Cards agents={own} begin={null} />
            )}
          </Section>
          <Section
            title={t`Library`}
            description={t`Ready to use by name in flows. Start from one to change it.`}
          >
            <Cards agents={agents.filter(({ origin }) => origin === 'library')} begin={begin} />
          </Section>
          {brought.length > 0 && (
            <Section
              title={t`Agents of plug-ins`}
              description={t`Their code decides what they do. Steward checks, asks and records as for any other agent.`}
            >
              <Cards agents={brought} begin={null} />
            </Section>
          )}
          <Section
            title={t`Agents of the chat`}
            description={t`They work on the steps of plans. In a flow they have the tools that their step names.`}
          >
            <Cards agents={agents.filter(({ origin }) => origin === 'chat')} begin={begin} />
          </Section>
        </>
      )}
      {mayEdit && <Archived />}
      {mayEdit && (
        <NewAgentDialog
          opened={dialog.opened || from !== null}
          from={from}
          onClose={from === null ? dialog.close : () => setFrom(null)}
        />
      )}
    </Page>
  );
}

interface CardsProps {
  agents: AgentCard[];
  begin: ((name: string) => void) | null;
}

function Cards({ agents, begin }: CardsProps) {
  const project = useProject();
  return (
    <ul className={classes.cards}>
      {agents.map((agent) => (
        <li key={agent.name} className={classes.card}>
          <div className={classes.about}>
            <Anchor
              component={Link}
              to={`/p/${project.id}/agents/${agent.name}`}
              fw={600}
              size="sm"
            >
              {agent.title}
            </Anchor>
            <Text size="sm" c="dimmed" lineClamp={3}>
              {agent.description}
            </Text>
          </div>
          <div className={classes.foot}>
            <RiskChip risk={agent.highest_risk} />
            <Facts agent={agent} />
            {begin && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t`Start from this: ${agent.title}`}
                onClick={() => begin(agent.name)}
              >
                {t`Start from this`}
              </Button>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Facts({ agent }: { agent: AgentCard }) {
  const { origin, version, updated_at, tools } = agent;
  return (
    <Text span size="xs" c="dimmed">
      {origin === 'project' && updated_at !== null ? (
        <>
          <Trans>
            Version {version}, <RelativeTime value={updated_at} />
          </Trans>
        </>
      ) : tools.length === 0 ? (
        t`No tools`
      ) : (
        plural(tools.length, { one: `${tools.length} tool`, other: `${tools.length} tools` })
      )}
    </Text>
  );
}

function Archived() {
  const project = useProject();
  const agents = useQuery(agentsQuery(project.id, true)).data ?? [];
  const restore = useRestoreAgent(project.id);
  if (agents.length === 0) return null;
  return (
    <Section title={t`Archived`} framed>
      <ul className={classes.tools}>
        {agents.map(({ name, title, version }) => (
          <li key={name} className={classes.line}>
            <Text span size="sm">
              {title}
            </Text>
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={t`Restore ${title}`}
              onClick={() =>
                restore.mutate(
                  { name, version, wanted: version - 1 },
                  { onSuccess: () => showDone(t`${title} is back`), onError: showFailure },
                )
              }
            >
              {t`Restore`}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
