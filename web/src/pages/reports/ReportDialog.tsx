/** Writes a report: title and datasets, then its progress, then the result. */
import { Anchor, Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useState } from 'react';
import { datasetsQuery, exportAddress } from '@/api/datasets';
import { fieldMessages } from '@/api/errors';
import { projectKey } from '@/api/keys';
import { itemsOf } from '@/api/lists';
import { writeReport } from '@/api/reports';
import { cancelTask, isOver, taskError, taskQuery } from '@/api/tasks';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { useFormats } from '@/components/format';
import { TaskProgress } from '@/components/TaskProgress';
import { useSearchParam } from '@/components/use-search-param';
import classes from './reports.module.css';
import { DownloadButton } from './ReportTable';

const MOST_DATASETS = 20;

interface Props {
  opened: boolean;
  onClose: () => void;
  onShow: (path: string) => void;
}

export function ReportDialog({ opened, onClose, onShow }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Write a report">
      <Steps onShow={onShow} />
    </Modal>
  );
}

function Steps({ onShow }: Pick<Props, 'onShow'>) {
  const project = useProject();
  const formats = useFormats();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: (request: { title: string; datasets: string[] }) =>
      writeReport(project.id, { ...request, locale: formats.locale }),
  });
  const followed = useQuery(taskQuery(project.id, start.data?.id));
  const task = followed.data ?? start.data;
  const isDone = task?.status === 'done';
  useEffect(() => {
    if (isDone) void client.invalidateQueries({ queryKey: projectKey(project.id, 'data') });
  }, [client, isDone, project.id]);
  if (isDone) {
    const { files } = task.result as { files: string[] };
    return (
      <Written
        projectId={project.id}
        files={files}
        datasets={start.variables?.datasets ?? []}
        onShow={onShow}
      />
    );
  }
  if (task && !isOver(task)) {
    return <TaskProgress {...task} onCancel={() => void cancelTask(project.id, task.id)} />;
  }
  return (
    <ReportForm
      error={start.error ?? followed.error ?? (task ? taskError(task) : null)}
      isBusy={start.isPending}
      given={start.variables}
      onSubmit={start.mutate}
    />
  );
}

interface FormProps {
  error: unknown;
  isBusy: boolean;
  given: { title: string; datasets: string[] } | undefined;
  onSubmit: (request: { title: string; datasets: string[] }) => void;
}

function ReportForm({ error, isBusy, given, onSubmit }: FormProps) {
  const project = useProject();
  const [asked] = useSearchParam('dataset');
  const names = itemsOf(useInfiniteQuery(datasetsQuery(project.id)).data).map(({ name }) => name);
  const [title, setTitle] = useState(given?.title ?? (asked === null ? '' : `About ${asked}`));
  const [datasets, setDatasets] = useState(given?.datasets ?? (asked === null ? [] : [asked]));
  const messages = fieldMessages(error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit({ title: title.trim(), datasets });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Title"
          required
          maxLength={100}
          value={title}
          error={messages.title}
          data-autofocus
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <MultiSelect
          label="Datasets"
          withAsterisk
          description="Each becomes a chapter: columns, quality, charts and first rows."
          data={names}
          value={datasets.filter((name) => names.length === 0 || names.includes(name))}
          error={messages.datasets}
          maxValues={MOST_DATASETS}
          searchable
          hidePickedOptions
          onChange={setDatasets}
        />
        <FormError error={error} />
        <Group justify="flex-end">
          <Button
            type="submit"
            loading={isBusy}
            disabled={title.trim() === '' || datasets.length === 0}
          >
            Write
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface WrittenProps {
  projectId: string;
  files: string[];
  datasets: string[];
  onShow: (path: string) => void;
}

function Written({ projectId, files, datasets, onShow }: WrittenProps) {
  const html = files.find((path) => path.endsWith('.html'));
  return (
    <Stack>
      <Text size="sm" role="status">
        The report is written and kept under Reports.
      </Text>
      <Group gap="xs">
        {html !== undefined && (
          <Button size="compact-sm" onClick={() => onShow(html)} data-autofocus>
            Look at it
          </Button>
        )}
        {files.map((path) => (
          <DownloadButton
            key={path}
            projectId={projectId}
            path={path}
            label={path.endsWith('.pdf') ? 'PDF' : 'HTML'}
          />
        ))}
      </Group>
      <div>
        <Text size="sm" c="dimmed">
          The data itself as Excel:
        </Text>
        <ul className={classes.list}>
          {datasets.map((name) => (
            <li key={name}>
              <Anchor href={exportAddress(projectId, name, 'xlsx')} download size="sm">
                {`${name}.xlsx`}
              </Anchor>
            </li>
          ))}
        </ul>
      </div>
    </Stack>
  );
}
