/** What starts playbooks by itself: how each trigger fares, and the events that came to it. */
import { t } from '@lingui/core/macro';
import { Page } from '@/components/Page';
import { useSearchParam } from '@/components/use-search-param';
import { TriggerDrawer } from './TriggerDrawer';
import { TriggerTable } from './TriggerTable';

export default function TriggersPage() {
  const [opened, open] = useSearchParam('trigger');
  return (
    <Page
      title={t`Triggers`}
      description={t`What starts deployed playbooks by itself. Every event is stored first, then run once.`}
    >
      <TriggerTable onOpen={open} />
      <TriggerDrawer triggerId={opened} onClose={() => open(null)} />
    </Page>
  );
}
