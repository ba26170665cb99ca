/** Flows that start by themselves, each moment once. */
import { Button } from '@mantine/core';
import { CalendarPlus } from 'lucide-react';
import { useState } from 'react';
import type { Schedule } from '@/api/run-types';
import { useMay } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog } from '@/components/use-search-param';
import { ScheduleDialog } from './ScheduleDialog';
import { ScheduleTable } from './ScheduleTable';

export default function SchedulesPage() {
  const mayChange = useMay('editor');
  const dialog = useDialog('create');
  const [changed, setChanged] = useState<Schedule | null>(null);
  const create = mayChange && (
    <Button leftSection={<CalendarPlus size={14} aria-hidden />} onClick={dialog.open}>
      Create a schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      description="Flows that start at set times. To schedule a playbook, open it and choose Schedule."
      actions={create}
    >
      <ScheduleTable create={create} onChange={setChanged} />
      {mayChange && dialog.opened && <ScheduleDialog schedule={null} onClose={dialog.close} />}
      {changed !== null && <ScheduleDialog schedule={changed} onClose={() => setChanged(null)} />}
    </Page>
  );
}
