/** What happened in the project and in its runs, to be searched, verified and taken along. */
import { t } from '@lingui/core/macro';
import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Page } from '@/components/Page';
import { useSearchParam } from '@/components/use-search-param';
import { AuditEvents } from './AuditEvents';
import { AuditRuns } from './AuditRuns';

export default function AuditPage() {
  const [wanted] = useSearchParam('tab');
  const navigate = useNavigate();
  const tab = wanted === 'runs' ? 'runs' : 'events';
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(id) => void navigate({ to: '.', search: id === 'runs' ? { tab: 'runs' } : {} })}
    >
      <Page
        title={t`Audit`}
        description={t`Who did what and when. Steward has no way to change or delete an event, but it does not notice a change made in the database itself. Journals of runs are signed: Steward finds such a change there. An exported file has a signed seal.`}
        width="full"
        toolbar={
          <Tabs.List>
            <Tabs.Tab value="events">{t`Events`}</Tabs.Tab>
            <Tabs.Tab value="runs">{t`Journals of runs`}</Tabs.Tab>
          </Tabs.List>
        }
      >
        <Tabs.Panel value="events">
          <AuditEvents />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <AuditRuns />
        </Tabs.Panel>
      </Page>
    </Tabs>
  );
}
