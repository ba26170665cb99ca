/** Loading files, one tab per file, or a table of a database; closing keeps what is under way of files. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack, Tabs, Text } from '@mantine/core';
import { Database, FileUp } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import classes from './datasets.module.css';
import { FileLoader } from './FileLoader';
import { ServerLoader } from './ServerLoader';
import type { Stage } from './use-file-load';

const STAGES: Record<Stage | 'failed', string> = {
  sending: 'sending',
  inspecting: 'looking',
  ready: t`to review`,
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
  const [fromServer, setFromServer] = useState(false);
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
      title={titleOf(files, fromServer)}
      size="60rem"
      keepMounted
    >
      {files.length === 0 && fromServer && (
        <ServerLoader projectId={projectId} taken={taken} onLeave={() => setFromServer(false)} />
      )}
      {files.length === 0 && !fromServer && (
        <Chooser onFiles={onFiles} onServer={() => setFromServer(true)} />
      )}
      {files.length > 0 && (
        <Tabs value={current} onChange={setChosen} keepMounted>
          {files.length > 1 && (
            <Tabs.List mb="md" aria-label={t`Files`}>
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

function titleOf(files: PendingFile[], fromServer: boolean): string {
  if (files.length === 1) return t`Load ${files[0]?.file.name ?? ''}`;
  return files.length === 0 && fromServer ? t`Load from a database` : t`Load files`;
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

interface ChooserProps {
  onFiles: (files: File[]) => void;
  onServer: () => void;
}

function Chooser({ onFiles, onServer }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Stack align="center" gap="xs" className={classes.chooser}>
      <FileUp size={24} aria-hidden />
      <Text fw={600}>{t`Drop files here`}</Text>
      <Text size="sm" c="dimmed" ta="center" maw="28rem">
        {t`CSV, TSV, Excel, JSON, Parquet, SQLite or DuckDB, also packed as zip or gzip. Nothing is stored as a dataset before you have seen what was found.`}
      </Text>
      <Group mt="xs" gap="xs" justify="center">
        <Button onClick={() => input.current?.click()} data-autofocus>
          {t`Choose files`}
        </Button>
        <Button
          variant="default"
          leftSection={<Database size={14} aria-hidden />}
          onClick={onServer}
        >
          {t`From a database`}
        </Button>
      </Group>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t`Files to load`}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </Stack>
  );
}
