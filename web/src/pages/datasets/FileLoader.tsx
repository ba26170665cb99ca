/** The steps of one file in the upload dialog. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useEffect } from 'react';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { WorkProgress } from '@/components/WorkProgress';
import { datasetName } from './dataset-name';
import { FileSettings } from './FileSettings';
import { Outcome } from './Outcome';
import { Review } from './Review';
import { type Stage, useFileLoad } from './use-file-load';

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
        {t`Leave this file out`}
      </Button>
    );
    return <ErrorState error={load.error} retry={load.retry} action={giveUp} />;
  }
  if (load.stage === 'sending') {
    return (
      <WorkProgress
        doing={t`Sending ${file.name}`}
        done={load.sent}
        total={file.size}
        format={formats.bytes}
        onCancel={leave}
      />
    );
  }
  if (!load.inspection) {
    return <WorkProgress doing={t`Looking at the file`} done={0} total={null} />;
  }
  return (
    <Review
      load={load}
      inspection={load.inspection}
      about={formats.bytes(file.size)}
      proposed={datasetName(file.name)}
      taken={taken}
      leaving={t`Leave this file out`}
      onLeave={leave}
    >
      <FileSettings
        inspection={load.inspection}
        options={load.options}
        disabled={load.stage !== 'ready'}
        onCorrect={load.correct}
      />
    </Review>
  );
}
