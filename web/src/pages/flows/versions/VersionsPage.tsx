/** The versions of one flow: compared on the canvas, deployed with checks, rolled back, tried on a share of its runs. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Tabs } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Rocket, Undo2 } from 'lucide-react';
import { useRollBackTo } from '@/api/deployments';
import { flowPaletteQuery, languageOf } from '@/api/flows';
import { itemsOf } from '@/api/lists';
import { playbookQuery, revisionsQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { showDone, showFailure } from '@/components/undo';
import { usePathParam } from '@/components/use-path-param';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { CanaryPanel } from './CanaryPanel';
import { CompareTab } from './CompareTab';
import { DeployDialog } from './DeployDialog';
import { DeploymentsTab } from './DeploymentsTab';
import { RunsTab } from './RunsTab';
import { ShadowTab } from './ShadowTab';

const TABS = [
  { id: 'compare', label: t`Compare` },
  { id: 'deployments', label: t`Deployments` },
  { id: 'shadow', label: t`Shadow` },
  { id: 'runs', label: t`Run again` },
] as const;

export default function VersionsPage() {
  const project = useProject();
  const playbookId = usePathParam('playbookId') ?? '';
  const playbook = useQuery(playbookQuery(project.id, playbookId));
  const revisions = useInfiniteQuery(revisionsQuery(project.id, playbookId));
  const palette = useQuery(flowPaletteQuery(project.id));
  const [tab, setTab] = useSearchParam('tab');
  const dialog = useDialog('deploy');
  const back = useRollBackTo(project.id, playbookId);
  const flows = projectPath(project.id, 'flows');
  const error = playbook.error ?? revisions.error ?? palette.error;
  if (error) {
    return (
      <Page title={t`Versions`} parent={{ label: t`Flows`, to: flows }}>
        <ErrorState error={error} retry={() => void playbook.refetch()} />
      </Page>
    );
  }
  if (!playbook.data || !revisions.data || !palette.data) return <LoadingLines />;
  const card = playbook.data;
  const known = itemsOf(revisions.data);
  const isDeployed = card.deployed === card.head;
  const state =
    card.deployed === null
      ? t`No version is deployed yet.`
      : isDeployed
        ? t`Revision ${card.deployed} is deployed.`
        : t`Revision ${card.deployed} is deployed; the newest is ${card.head}.`;
  return (
    <Page
      title={t`Versions of ${card.name}`}
      description={state}
      width="full"
      parent={[
        { label: t`Flows`, to: flows },
        { label: card.name, to: projectPath(project.id, 'flows', card.id) },
      ]}
      actions={
        <>
          <Anchor
            component={Link}
            size="sm"
            to={projectPath(project.id, 'overview', 'flow', `playbook%3A${card.id}`)}
          >
            {t`Figures by version`}
          </Anchor>
          {card.may_edit && (
            <>
              {card.previous !== null && (
                <Button
                  variant="default"
                  leftSection={<Undo2 size={14} aria-hidden />}
                  loading={back.isPending}
                  onClick={() =>
                    back.mutate(null, {
                      onSuccess: ({ deployed }) =>
                        showDone(t`Revision ${deployed ?? ''} is deployed again`),
                      onError: showFailure,
                    })
                  }
                >
                  {t`Roll back to revision ${card.previous}`}
                </Button>
              )}
              <Button leftSection={<Rocket size={14} aria-hidden />} onClick={dialog.open}>
                {t`Deploy…`}
              </Button>
            </>
          )}
        </>
      }
    >
      {card.may_edit && card.state === 'active' && <CanaryPanel playbook={card} />}
      <Tabs value={tab ?? 'compare'} onChange={setTab} keepMounted={false}>
        <TabStrip tabs={TABS} value={tab ?? 'compare'} />
        <Group mt="md" display="block">
          <Tabs.Panel value="compare">
            <CompareTab
              playbook={card}
              revisions={known}
              language={languageOf(palette.data)}
              names={palette.data}
            />
          </Tabs.Panel>
          <Tabs.Panel value="deployments">
            <DeploymentsTab playbook={card} />
          </Tabs.Panel>
          <Tabs.Panel value="shadow">
            <ShadowTab playbook={card} />
          </Tabs.Panel>
          <Tabs.Panel value="runs">
            <RunsTab playbook={card} language={languageOf(palette.data)} />
          </Tabs.Panel>
        </Group>
      </Tabs>
      {dialog.opened && <DeployDialog playbook={card} revisions={known} onClose={dialog.close} />}
    </Page>
  );
}
