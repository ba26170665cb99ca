/** What runs, waits, failed and cost lately, what is spent on what, and alerts about it. */
import { t } from '@lingui/core/macro';
import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { useSearchParam } from '@/components/use-search-param';
import { FiguresTab } from './FiguresTab';

const CostsTab = lazy(() => import('./CostsTab'));
const BudgetsTab = lazy(() => import('./BudgetsTab'));
const AlertsTab = lazy(() => import('./AlertsTab'));

const TABS = [
  { id: 'figures', label: t`Figures` },
  { id: 'costs', label: t`Costs` },
  { id: 'budgets', label: t`Budgets` },
  { id: 'alerts', label: t`Alerts` },
];

export default function OverviewPage() {
  const [wanted] = useSearchParam('tab');
  const navigate = useNavigate();
  const tab = TABS.find(({ id }) => id === wanted)?.id ?? 'figures';
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(id) =>
        void navigate({ to: '.', search: id === null || id === 'figures' ? {} : { tab: id } })
      }
    >
      <Page
        title={t`Overview`}
        description={t`What runs did, how long they took and what they cost.`}
        width="full"
        toolbar={<TabStrip tabs={TABS} value={tab} />}
      >
        <Tabs.Panel value="figures">
          <FiguresTab />
        </Tabs.Panel>
        <Tabs.Panel value="costs">
          <Suspense fallback={<LoadingLines />}>
            <CostsTab />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="budgets">
          <Suspense fallback={<LoadingLines />}>
            <BudgetsTab />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="alerts">
          <Suspense fallback={<LoadingLines />}>
            <AlertsTab />
          </Suspense>
        </Tabs.Panel>
      </Page>
    </Tabs>
  );
}
