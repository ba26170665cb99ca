/** What happened in the project and in its runs, to be searched, verified and taken along. */
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
        title="Audit"
        description="Who did what and when. Nobody can change events in Steward. Journals of runs are signed: a change in the database is noticed there."
        width="full"
        toolbar={
          <Tabs.List>
            <Tabs.Tab value="events">Events</Tabs.Tab>
            <Tabs.Tab value="runs">Journals of runs</Tabs.Tab>
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
