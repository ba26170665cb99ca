/** The steps of one file in the upload dialog. */
import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { type SubmitEvent, useEffect, useState } from 'react';
import type { Inspection, LoadResult } from '@/api/uploads';
import { datasetPath } from '@/components/dataset-path';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { useFormats } from '@/components/format';
import { TaskProgress } from '@/components/TaskProgress';
import { ColumnFindings } from './ColumnFindings';
import { datasetName } from './dataset-name';
import { FileSettings } from './FileSettings';
import { type FileLoad, type Stage, useFileLoad } from './use-file-load';

interface Props {
  projectId: string;
  file: File;
  /** Names that are taken: loading under one makes its next version. */
  taken: string[];
  onStage: (stage: Stage | 'failed') => void;
  /** The person gives this file up. */
  onLeave: () => void;
}

export function FileLoader({ projectId, file, taken, onStage, onLeave }: Props) {
  const load = useFileLoad(projectId, file);
  const shown = load.error ? 'failed' : load.stage;
  useEffect(() => onStage(shown), [onStage, shown]);
  const formats = useFormats();
  const leave = () => {
    load.abandon();
    onLeave();
  };
  if (load.result) return <Outcome projectId={projectId} result={load.result} />;
  if (load.error && !load.inspection) {
    const giveUp = (
      <Button variant="subtle" color="gray" onClick={leave}>
        Leave this file out
      </Button>
    );
    return <ErrorState error={load.error} retry={load.retry} action={giveUp} />;
  }
  if (load.stage === 'sending') {
    return (
      <TaskProgress
        doing={`Sending ${file.name}`}
        done={load.sent}
        total={file.size}
        format={formats.bytes}
        onCancel={leave}
      />
    );
  }
  if (!load.inspection) {
    return <TaskProgress doing="Looking at the file" done={0} total={null} />;
  }
  return <Review {...{ load, inspection: load.inspection, file, taken, onLeave: leave }} />;
}

interface ReviewProps {
  load: FileLoad;
  inspection: Inspection;
  file: File;
  taken: string[];
  onLeave: () => void;
}

function Review({ load, inspection, file, taken, onLeave }: ReviewProps) {
  const formats = useFormats();
  const [name, setName] = useState(() => datasetName(file.name));
  const isBusy = load.stage !== 'ready';
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    load.load(name.trim());
  };
  const about = { inspection, options: load.options, disabled: isBusy, onCorrect: load.correct };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed" role="status">
          {[
            inspection.format,
            formats.bytes(file.size),
            `${inspection.columns.length} columns`,
            inspection.complete
              ? `all ${formats.number(inspection.records_seen)} records looked at`
              : `the first ${formats.number(inspection.records_seen)} records looked at`,
          ].join(' · ')}
        </Text>
        <FileSettings {...about} />
        <Warnings warnings={inspection.warnings} />
        <ColumnFindings {...about} />
        <TextInput
          label="Dataset name"
          description={
            taken.includes(name.trim())
              ? 'Exists already: this becomes its next version, and the present one can be restored.'
              : 'Rows that do not fit their column’s type are kept apart with the reason; none is lost.'
          }
          value={name}
          required
          maxLength={200}
          disabled={load.stage === 'loading'}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <FormError error={load.error} />
        {load.stage === 'loading' ? (
          <TaskProgress
            doing={load.task?.doing ?? 'Waiting'}
            done={load.task?.done ?? 0}
            total={load.task?.total ?? null}
            onCancel={load.cancel}
          />
        ) : (
          <Group justify="flex-end" gap="xs">
            <Button variant="subtle" color="gray" onClick={onLeave}>
              Leave this file out
            </Button>
            <Button type="submit" loading={load.stage === 'inspecting'} disabled={!name.trim()}>
              Load
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

function Warnings({ warnings }: Pick<Inspection, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {warnings.map(({ message, line }, index) => (
        <div key={index}>
          {message}
          {line !== null && ` (line ${line})`}
        </div>
      ))}
    </Alert>
  );
}

function Outcome({ projectId, result }: { projectId: string; result: LoadResult }) {
  const formats = useFormats();
  const { dataset, rows, rejected, rejects_dataset, warnings } = result;
  return (
    <Stack>
      <Alert color="steward" variant="light" icon={<CircleCheck size={16} aria-hidden />}>
        <Text size="sm" role="status">
          {`${formats.number(rows)} rows loaded as ${dataset}. `}
          {rejected > 0 && rejects_dataset !== null && (
            <>
              {`${formats.number(rejected)} did not fit and `}
              <Anchor component={Link} to={datasetPath(projectId, rejects_dataset)} size="sm">
                are listed with the reasons
              </Anchor>
              .
            </>
          )}
        </Text>
      </Alert>
      <Warnings warnings={warnings} />
      <Group justify="flex-end">
        <Button component={Link} to={datasetPath(projectId, dataset)} data-autofocus>
          Open {dataset}
        </Button>
      </Group>
    </Stack>
  );
}
