/** Writes a report: title and datasets, then its progress, then the result. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useEffect, useState } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { fieldMessages } from '@/api/errors';
import { projectKey } from '@/api/keys';
import { itemsOf } from '@/api/lists';
import { writeReport } from '@/api/reports';
import { cancelWork, isOver, workError, workOf, workQuery } from '@/api/long-work';
import { useProject } from '@/app/project';
import { datasetPath } from '@/components/dataset-path';
import { FormError } from '@/components/FormError';
import { useFormats } from '@/components/format';
import { WorkProgress } from '@/components/WorkProgress';
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
    <Modal opened={opened} onClose={onClose} title={t`Write a report`}>
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
  const followed = useQuery(workQuery(project.id, start.data?.id));
  const work = followed.data ?? (start.data && workOf(start.data));
  const isDone = work?.status === 'done';
  useEffect(() => {
    if (isDone) void client.invalidateQueries({ queryKey: projectKey(project.id, 'data') });
  }, [client, isDone, project.id]);
  if (isDone) {
    const { files } = work.result as { files: string[] };
    return (
      <Written
        projectId={project.id}
        files={files}
        datasets={start.variables?.datasets ?? []}
        onShow={onShow}
      />
    );
  }
  if (work && !isOver(work)) {
    return <WorkProgress {...work} onCancel={() => void cancelWork(project.id, work.id)} />;
  }
  return (
    <ReportForm
      error={start.error ?? followed.error ?? (work ? workError(work) : null)}
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
  const [title, setTitle] = useState(given?.title ?? (asked === null ? '' : t`About ${asked}`));
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
          label={t`Title`}
          required
          maxLength={100}
          value={title}
          error={messages.title}
          data-autofocus
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <MultiSelect
          label={t`Datasets`}
          withAsterisk
          description={t`Each becomes a chapter: columns, quality, charts and first rows.`}
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
            {t`Write`}
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
        {t`The report is written and kept under Reports.`}
      </Text>
      <Group gap="xs">
        {html !== undefined && (
          <Button size="compact-sm" onClick={() => onShow(html)} data-autofocus>
            {t`Look at it`}
          </Button>
        )}
        {files.map((path) => (
          <DownloadButton
            key={path}
            projectId={projectId}
            path={path}
            label={path.endsWith('.pdf') ? t`PDF` : t`HTML`}
          />
        ))}
      </Group>
      <div>
        <Text size="sm" c="dimmed">
          {t`The data itself can be exported from its page:`}
        </Text>
        <ul className={classes.list}>
          {datasets.map((name) => (
            <li key={name}>
              <Anchor component={Link} to={datasetPath(projectId, name)} size="sm">
                {name}
              </Anchor>
            </li>
          ))}
        </ul>
      </div>
    </Stack>
  );
}
