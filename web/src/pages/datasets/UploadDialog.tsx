/** Loading files: one tab per file; closing keeps what is under way. */
import { Button, Modal, Stack, Tabs, Text } from '@mantine/core';
import { FileUp } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import classes from './datasets.module.css';
import { FileLoader } from './FileLoader';
import type { Stage } from './use-file-load';

const STAGES: Record<Stage | 'failed', string> = {
  sending: 'sending',
  inspecting: 'looking',
  ready: 'to review',
  loading: 'loading',
  done: 'loaded',
  failed: 'failed',
};

export interface PendingFile {
  id: string;
  file: File;
}

interface Props {
  projectId: string;
  files: PendingFile[];
  taken: string[];
  opened: boolean;
  onFiles: (files: File[]) => void;
  onLeave: (id: string) => void;
  onClose: (unfinished: boolean) => void;
}

export default function UploadDialog(props: Props) {
  const { projectId, files, taken, opened, onFiles, onLeave, onClose } = props;
  const [stages, setStages] = useState<Record<string, Stage | 'failed'>>({});
  const [chosen, setChosen] = useState<string | null>(null);
  const current = files.find(({ id }) => id === chosen)?.id ?? files[0]?.id ?? null;
  const note = useCallback(
    (id: string, stage: Stage | 'failed') => setStages((known) => ({ ...known, [id]: stage })),
    [],
  );
  const close = () => onClose(files.some(({ id }) => stages[id] !== 'done'));
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={files.length === 1 ? `Load ${files[0]?.file.name ?? ''}` : 'Load files'}
      size="60rem"
      keepMounted
    >
      {files.length === 0 ? (
        <Chooser onFiles={onFiles} />
      ) : (
        <Tabs value={current} onChange={setChosen} keepMounted>
          {files.length > 1 && (
            <Tabs.List mb="md" aria-label="Files">
              {files.map(({ id, file }) => (
                <Tabs.Tab key={id} value={id}>
                  {file.name}{' '}
                  <Text span size="xs" c="dimmed">
                    {STAGES[stages[id] ?? 'sending']}
                  </Text>
                </Tabs.Tab>
              ))}
            </Tabs.List>
          )}
          {files.map(({ id, file }) => (
            <Tabs.Panel key={id} value={id}>
              <NotedLoader {...{ id, file, projectId, taken, note }} onLeave={() => onLeave(id)} />
            </Tabs.Panel>
          ))}
        </Tabs>
      )}
    </Modal>
  );
}

interface NotedProps extends PendingFile {
  projectId: string;
  taken: string[];
  note: (id: string, stage: Stage | 'failed') => void;
  onLeave: () => void;
}

function NotedLoader({ id, note, ...rest }: NotedProps) {
  const onStage = useCallback((stage: Stage | 'failed') => note(id, stage), [id, note]);
  return <FileLoader {...rest} onStage={onStage} />;
}

function Chooser({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Stack align="center" gap="xs" className={classes.chooser}>
      <FileUp size={24} aria-hidden />
      <Text fw={600}>Drop files here</Text>
      <Text size="sm" c="dimmed" ta="center" maw="28rem">
        CSV, TSV, Excel, JSON, Parquet, SQLite or DuckDB, also packed as zip or gzip. Nothing is
        stored as a dataset before you have seen what was found.
      </Text>
      <Button mt="xs" onClick={() => input.current?.click()} data-autofocus>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to load"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </Stack>
  );
}
