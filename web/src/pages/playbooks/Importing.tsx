/** Import of playbooks: files chosen or dropped, what would become of each, and then all of them or none. */
import { plural, t } from '@lingui/core/macro';
import { Alert, Button, FileButton, Group, Modal, Stack, Switch, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { CirclePlus, Equal, FileDown, OctagonX, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { type GivenFile, type ImportedFile, useImportPlaybooks } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { FormError } from '@/components/FormError';
import type { StateLook } from '@/components/run-status';
import { showDone } from '@/components/undo';
import { useDialog } from '@/components/use-search-param';
import { useFileDrop } from '@/pages/datasets/use-file-drop';
import { filesTold, readFiles } from './import-files';
import classes from './playbooks.module.css';

const LOOKS: Record<ImportedFile['change'], StateLook> = {
  created: { word: t`New draft`, icon: CirclePlus, tone: 'good' },
  changed: { word: t`New revision`, icon: RefreshCw, tone: 'good' },
  unchanged: { word: t`Nothing new`, icon: Equal, tone: 'neutral' },
  refused: { word: t`Refused`, icon: OctagonX, tone: 'bad' },
};

export function Importing({ isEnabled }: { isEnabled: boolean }) {
  const dialog = useDialog('import');
  const [given, setGiven] = useState<GivenFile[]>([]);
  const [mine, setMine] = useState(false);
  const tried = useTrial();
  const project = useProject();
  const reading = useMutation({ mutationFn: (files: File[]) => readFiles(project.id, files) });
  const look = (files: GivenFile[], leaveOut: boolean) => {
    setGiven(files);
    setMine(leaveOut);
    tried.start(files, leaveOut);
  };
  const take = async (chosen: File[]) => {
    const files = await reading.mutateAsync(chosen).catch(() => null);
    if (files === null) return;
    const names = new Set(files.map(({ name }) => name));
    look([...given.filter(({ name }) => !names.has(name)), ...files], mine);
  };
  const close = () => {
    dialog.close();
    setGiven([]);
    tried.forget();
    reading.reset();
  };
  const isOver = useFileDrop((files) => {
    if (!dialog.opened) dialog.open();
    void take(files);
  }, isEnabled);
  const results = tried.results;
  return (
    <>
      {isOver && (
        <div className={classes.drop}>{t`Drop YAML files or a zip of them to import them`}</div>
      )}
      <Modal opened={dialog.opened} onClose={close} title={t`Import playbooks`} size="46rem">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t`One YAML file for each playbook, with its drawing (.layout.json) where you have it, or the zip of “Export all”. What differs becomes a new revision and runs only once it is deployed. All of them are imported or none.`}
          </Text>
          <Group>
            <FileButton
              accept=".yaml,.yml,.zip,.layout.json,.json"
              multiple
              onChange={(files) => void take(files)}
            >
              {(props) => (
                <Button
                  variant={given.length === 0 ? 'filled' : 'default'}
                  leftSection={<FileDown size={14} aria-hidden />}
                  loading={reading.isPending}
                  {...props}
                >
                  {given.length === 0 ? t`Choose files` : t`Choose more files`}
                </Button>
              )}
            </FileButton>
            <Text size="sm" c="dimmed">
              {t`or drop them here`}
            </Text>
          </Group>
          {given.length > 0 && (
            <Switch
              label={t`Leave out whom they belong to and are shared with`}
              description={t`For files of another project: you own what is new, and share it yourself.`}
              checked={mine}
              onChange={({ currentTarget }) => look(given, currentTarget.checked)}
            />
          )}
          {results && (
            <Results
              results={results}
              onRemove={(name) =>
                look(
                  given.filter((file) => file.name !== name),
                  mine,
                )
              }
            />
          )}
          <FormError error={reading.error ?? tried.error} />
          {given.length > 0 && (
            <Confirm
              given={given}
              mine={mine}
              results={results}
              isTrying={tried.isPending}
              onChanged={() => look(given, mine)}
              onDone={close}
            />
          )}
        </Stack>
      </Modal>
    </>
  );
}

/** What would become of the files, without importing them. */
function useTrial() {
  const project = useProject();
  const { mutate, reset, data, error, isPending } = useImportPlaybooks(project.id);
  const start = (files: GivenFile[], mine: boolean) =>
    files.length === 0 ? reset() : mutate({ files, mine, trial: true });
  return { start, forget: reset, results: data?.files, error, isPending };
}

interface ResultsProps {
  results: ImportedFile[];
  onRemove: (name: string) => void;
}

function Results({ results, onRemove }: ResultsProps) {
  return (
    <ul className={classes.files} aria-label={t`What becomes of the files`}>
      {results.map((result) => (
        <li key={result.name} className={classes.file}>
          <div className={classes.fileTop}>
            <Text size="sm" fw={600} className={classes.fileName ?? ''}>
              {result.name}
            </Text>
            <Chip {...LOOKS[result.change]} />
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              aria-label={t`Leave out ${result.name}`}
              onClick={() => onRemove(result.name)}
            >
              {t`Leave out`}
            </Button>
          </div>
          <Problems result={result} />
        </li>
      ))}
    </ul>
  );
}

function Problems({ result: { change, problems, reason } }: { result: ImportedFile }) {
  if (change !== 'refused') return null;
  if (problems.length === 0) return <p className={classes.problems}>{reason}</p>;
  return (
    <ul className={classes.problems}>
      {problems.map(({ pointer, message }) => (
        <li key={`${pointer} ${message}`}>
          {pointer !== '' && <code>{pointer}</code>} {message}
        </li>
      ))}
    </ul>
  );
}

interface ConfirmProps {
  given: GivenFile[];
  mine: boolean;
  results: ImportedFile[] | undefined;
  isTrying: boolean;
  /** Something changed meanwhile, so that one is refused now. */
  onChanged: () => void;
  onDone: () => void;
}

function Confirm({ given, mine, results, isTrying, onChanged, onDone }: ConfirmProps) {
  const project = useProject();
  const bring = useImportPlaybooks(project.id);
  const isRefused = results?.some(({ change }) => change === 'refused') === true;
  const submit = () =>
    bring.mutate(
      { files: given, mine, trial: false },
      {
        onSuccess: ({ written, files }) => {
          if (!written) return onChanged();
          showDone(filesTold(files));
          onDone();
        },
      },
    );
  return (
    <>
      {isRefused && (
        <Alert color="red" variant="light">
          {t`Nothing is imported while a file is refused: mend it and choose it again, or leave it out.`}
        </Alert>
      )}
      <FormError error={bring.error} />
      <Group justify="flex-end">
        <Button
          loading={bring.isPending || isTrying}
          disabled={isRefused || results === undefined}
          onClick={submit}
        >
          {plural(given.length, { one: `Import it`, other: `Import ${given.length} playbooks` })}
        </Button>
      </Group>
    </>
  );
}
