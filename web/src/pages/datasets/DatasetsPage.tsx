/** The datasets of the project; files dropped anywhere on the page are loaded. */
import { t } from '@lingui/core/macro';
import { Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link2, Upload } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { useMay, useProject } from '@/app/project';
import { useDataUndoKeys } from '@/components/data-undo';
import { Page } from '@/components/Page';
import { UnderWay } from '@/components/UnderWay';
import { useDialog } from '@/components/use-search-param';
import { DatasetTable } from './DatasetTable';
import classes from './datasets.module.css';
import type { PendingFile } from './UploadDialog';
import { useFileDrop } from './use-file-drop';

const UploadLinkDialog = lazy(() => import('./UploadLinkDialog'));
const UploadDialog = lazy(() => import('./UploadDialog'));

let counter = 0;

function asPending(file: File): PendingFile {
  counter += 1;
  return { id: `file-${counter}`, file };
}

export default function DatasetsPage() {
  const project = useProject();
  const mayLoad = useMay('editor');
  const query = useInfiniteQuery(datasetsQuery(project.id));
  const dialog = useDialog('upload');
  const asking = useDialog('upload-link');
  useDataUndoKeys(project.id, mayLoad);
  const [files, setFiles] = useState<PendingFile[]>([]);
  const add = (added: File[]) => {
    if (added.length === 0) return;
    setFiles((known) => [...known, ...added.map(asPending)]);
    dialog.open();
  };
  const isOver = useFileDrop(add, mayLoad);
  const leave = (id: string) => {
    setFiles((known) => known.filter((pending) => pending.id !== id));
    if (files.length === 1) dialog.close();
  };
  const close = (unfinished: boolean) => {
    if (!unfinished) setFiles([]);
    dialog.close();
  };
  const begin = mayLoad && (
    <Button leftSection={<Upload size={14} aria-hidden />} onClick={dialog.open}>
      {files.length > 0 ? t`Go on loading` : t`Load files`}
    </Button>
  );
  return (
    <Page
      title={t`Datasets`}
      description={t`Typed tables with a history: every change can be looked at and undone. Drop files anywhere on this page to load them.`}
      actions={
        mayLoad && (
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<Link2 size={14} aria-hidden />}
              onClick={asking.open}
            >
              {t`Let someone upload a file`}
            </Button>
            {begin}
          </Group>
        )
      }
    >
      <UnderWay projectId={project.id} subject="load" />
      <DatasetTable projectId={project.id} query={query} begin={begin} />
      {mayLoad && asking.opened && (
        <Suspense>
          <UploadLinkDialog projectId={project.id} onClose={asking.close} />
        </Suspense>
      )}
      {isOver && <div className={classes.dropZone}>{t`Drop to load`}</div>}
      {mayLoad && (dialog.opened || files.length > 0) && (
        <Suspense>
          <UploadDialog
            projectId={project.id}
            files={files}
            taken={itemsOf(query.data).map(({ name }) => name)}
            opened={dialog.opened}
            onFiles={add}
            onLeave={leave}
            onClose={close}
          />
        </Suspense>
      )}
    </Page>
  );
}
