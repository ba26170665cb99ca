/** What runs may do by themselves, what a person must approve, and what never happens. */
import { t } from '@lingui/core/macro';
import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { useSearchParam } from '@/components/use-search-param';
import { Approvers } from './Approvers';
import { Explainer } from './Explainer';
import { PolicyHistory } from './PolicyHistory';
import { PolicyRules } from './PolicyRules';
import { PolicyPlaceChoice, usePlace } from './place';
import { SafeModeSwitch } from './SafeModeSwitch';
import { ToolSettings } from './ToolSettings';

const TABS = [
  { id: 'rules', label: t`Rules` },
  { id: 'history', label: t`History` },
  { id: 'explain', label: t`Explain` },
  { id: 'approvers', label: t`Approvers` },
  { id: 'tools', label: t`Tools` },
];

export default function PolicyPage() {
  const [wanted] = useSearchParam('tab');
  const navigate = useNavigate();
  const [place, setPlace] = usePlace();
  const tab = TABS.some(({ id }) => id === wanted) ? wanted : 'rules';
  const choice = <PolicyPlaceChoice place={place} onChange={setPlace} />;
  const key = `${place.level}/${place.subject ?? ''}`;
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(id) =>
        void navigate({ to: '.', search: id === 'rules' || id === null ? {} : { tab: id } })
      }
    >
      <Page
        title={t`Policy`}
        description={t`Rules decide whether a call may run. Steward also has rules of its own, which you cannot change.`}
        actions={<SafeModeSwitch />}
        toolbar={<TabStrip tabs={TABS} value={tab} />}
      >
        <Tabs.Panel value="rules">
          {choice}
          <PolicyRules key={key} place={place} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          {choice}
          <PolicyHistory key={key} place={place} />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <Explainer />
        </Tabs.Panel>
        <Tabs.Panel value="approvers">
          <Approvers />
        </Tabs.Panel>
        <Tabs.Panel value="tools">
          <ToolSettings />
        </Tabs.Panel>
      </Page>
    </Tabs>
  );
}
