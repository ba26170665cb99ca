/** The history of all data of the project, with undo and redo. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Kbd } from '@mantine/core';
import { Redo2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useMay, useProject } from '@/app/project';
import { redoData, undoData, useDataUndoKeys } from '@/components/data-undo';
import { Page } from '@/components/Page';
import { CommitList } from './CommitList';

export default function HistoryPage() {
  const project = useProject();
  const mayChange = useMay('editor');
  const [busy, setBusy] = useState<'undo' | 'redo' | null>(null);
  useDataUndoKeys(project.id, mayChange);
  const run = async (what: 'undo' | 'redo') => {
    setBusy(what);
    await (what === 'undo' ? undoData(project.id) : redoData(project.id));
    setBusy(null);
  };
  return (
    <Page
      title={t`History`}
      description={
        <>
          <Trans>
            Every change to the data of this project, newest first. Nothing is overwritten: what was
            done can be undone (<Kbd size="xs">Ctrl Z</Kbd>) and done again.
          </Trans>
        </>
      }
      actions={
        mayChange && (
          <>
            <Button
              variant="default"
              leftSection={<Undo2 size={14} aria-hidden />}
              loading={busy === 'undo'}
              onClick={() => void run('undo')}
            >
              {t`Undo last`}
            </Button>
            <Button
              variant="default"
              leftSection={<Redo2 size={14} aria-hidden />}
              loading={busy === 'redo'}
              onClick={() => void run('redo')}
            >
              {t`Redo`}
            </Button>
          </>
        )
      }
    >
      <CommitList />
    </Page>
  );
}
