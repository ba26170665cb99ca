/** Flows that start by themselves, each moment once. */
import { Button } from '@mantine/core';
import { CalendarPlus } from 'lucide-react';
import { useMay } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog } from '@/components/use-search-param';
import { ScheduleDialog } from './ScheduleDialog';
import { ScheduleTable } from './ScheduleTable';

export default function SchedulesPage() {
  const mayChange = useMay('editor');
  const dialog = useDialog('create');
  const create = mayChange && (
    <Button leftSection={<CalendarPlus size={14} aria-hidden />} onClick={dialog.open}>
      Create a schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      description="Flows that start by themselves: each moment once, however many servers there are."
      actions={create}
    >
      <ScheduleTable create={create} />
      {mayChange && <ScheduleDialog opened={dialog.opened} onClose={dialog.close} />}
    </Page>
  );
}
