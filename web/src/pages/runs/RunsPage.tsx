/** The runs of the project, newest first, as they go on. */
import { t } from '@lingui/core/macro';
import { Button, Stack } from '@mantine/core';
import { Play } from 'lucide-react';
import { useMay } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog } from '@/components/use-search-param';
import { CountedLine } from './CountedLine';
import { RunFilters } from './RunFilters';
import { RunTable } from './RunTable';
import { StartDialog } from './StartDialog';
import { useRunFilter } from './run-filter';

export default function RunsPage() {
  const mayStart = useMay('operator');
  const dialog = useDialog('start');
  const filter = useRunFilter();
  const start = mayStart && (
    <Button leftSection={<Play size={14} aria-hidden />} onClick={dialog.open}>
      {t`Start a run`}
    </Button>
  );
  return (
    <Page
      title={t`Runs`}
      description={t`Everything that tools and flows did, step by step. Open a run to see, replay or undo it.`}
      width="full"
      actions={start}
    >
      <Stack>
        <RunFilters filter={filter} />
        <CountedLine counted={filter.counted} />
        <RunTable filter={filter} start={start} />
      </Stack>
      {mayStart && <StartDialog opened={dialog.opened} onClose={dialog.close} />}
    </Page>
  );
}
