/** Playbooks and flows that start by themselves, each moment once. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { CalendarPlus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Schedule } from '@/api/run-types';
import { useMay } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog } from '@/components/use-search-param';
import { PlaybookSchedules } from './PlaybookSchedules';
import { ScheduleDialog } from './ScheduleDialog';
import { ScheduleTable } from './ScheduleTable';

const CreateDialog = lazy(() => import('./CreateDialog'));

export default function SchedulesPage() {
  const mayChange = useMay('editor');
  const dialog = useDialog('create');
  const [changed, setChanged] = useState<Schedule | null>(null);
  const create = mayChange && (
    <Button leftSection={<CalendarPlus size={14} aria-hidden />} onClick={dialog.open}>
      {t`Create a schedule`}
    </Button>
  );
  return (
    <Page
      title={t`Schedules`}
      description={t`Playbooks and flows that start at set times.`}
      actions={create}
    >
      <PlaybookSchedules />
      <ScheduleTable create={create} onChange={setChanged} />
      {mayChange && dialog.opened && (
        <Suspense>
          <CreateDialog onClose={dialog.close} />
        </Suspense>
      )}
      {changed !== null && <ScheduleDialog schedule={changed} onClose={() => setChanged(null)} />}
    </Page>
  );
}
