/** Exports of the dataset: written by the server, then downloaded. */
import { t } from '@lingui/core/macro';
import { Button, Group, Menu, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, Download } from 'lucide-react';
import { useEffect } from 'react';
import { EXPORT_FORMATS, exportAddress, type ExportFormat, startExport } from '@/api/datasets';
import { ApiError } from '@/api/errors';
import { useWork } from '@/api/long-work';
import { FormError } from '@/components/FormError';
import { WorkProgress } from '@/components/WorkProgress';

interface Props {
  projectId: string;
  dataset: string;
}

interface Wanted {
  format: ExportFormat;
  several_sheets?: boolean;
  convert_types?: boolean;
}

export function ExportMenu({ projectId, dataset }: Props) {
  const start = useMutation({
    mutationFn: ({ format, ...agreed }: Wanted) => startExport(projectId, dataset, format, agreed),
  });
  const runId = start.data?.id ?? null;
  const work = useWork<{ file: { filename: string } }>(projectId, runId);
  const isMade = work.result !== null;
  const { reset } = start;
  useEffect(() => {
    if (!isMade || runId === null) return;
    download(exportAddress(projectId, dataset, runId));
    reset();
  }, [dataset, isMade, projectId, reset, runId]);
  const error = start.error ?? work.error;
  const leave = () => {
    if (work.running) work.cancel();
    reset();
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<Download size={14} aria-hidden />}
            rightSection={<ChevronDown size={14} aria-hidden />}
            loading={start.isPending}
          >
            {t`Export`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {EXPORT_FORMATS.map(({ value, label }) => (
            <Menu.Item key={value} onClick={() => start.mutate({ format: value })}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={work.running !== null || error !== null}
        onClose={leave}
        title={t`Export ${dataset}`}
      >
        <Stack>
          {work.running && <WorkProgress {...work.running} onCancel={leave} />}
          {isChoice(error) ? (
            <Choices error={error} onChoose={start.mutate} />
          ) : (
            <FormError error={error} />
          )}
        </Stack>
      </Modal>
    </>
  );
}

/** What can be done about a dataset that does not fit into a sheet, or has types that Iceberg lacks. */
function Choices({ error, onChoose }: { error: ApiError; onChoose: (wanted: Wanted) => void }) {
  if (error.code === 'types-change')
    return (
      <>
        <Text size="sm">{error.message}</Text>
        <Group>
          <Button
            size="compact-sm"
            onClick={() => onChoose({ format: 'iceberg', convert_types: true })}
            data-autofocus
          >
            {t`Convert and export`}
          </Button>
        </Group>
      </>
    );
  return (
    <>
      <Text size="sm">{error.message}</Text>
      <Group gap="xs">
        <Button size="compact-sm" onClick={() => onChoose({ format: 'csv' })} data-autofocus>
          {t`CSV`}
        </Button>
        <Button size="compact-sm" onClick={() => onChoose({ format: 'parquet' })}>
          {t`Parquet`}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChoose({ format: 'xlsx', several_sheets: true })}
        >
          {t`Excel with several sheets`}
        </Button>
      </Group>
    </>
  );
}

function isChoice(error: unknown): error is ApiError {
  return error instanceof ApiError && ['excel-limit', 'types-change'].includes(error.code);
}

function download(address: string) {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}
