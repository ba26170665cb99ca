/** What was found, to be corrected and named, and the way to load it: the same for files and tables. */
import { t } from '@lingui/core/macro';
import { Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { ApiError, fieldMessages } from '@/api/errors';
import type { Inspection } from '@/api/uploads';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { useFormats } from '@/components/format';
import { WorkProgress } from '@/components/WorkProgress';
import { Alternatives } from './Alternatives';
import { ColumnFindings } from './ColumnFindings';
import { Rejects, rejectsMany } from './Rejects';
import type { FileLoad } from './use-file-load';
import { Warnings } from './Warnings';

interface Props {
  load: Pick<FileLoad, 'stage' | 'options' | 'work' | 'error' | 'correct' | 'load' | 'cancel'>;
  inspection: Inspection;
  /** Something more to say about it, such as its size. */
  about?: string;
  /** The name to load it under, unless another is written. */
  proposed: string;
  taken: string[];
  /** What the way out is called. */
  leaving: string;
  onLeave: () => void;
  /** Settings of how it is read. */
  children?: ReactNode;
}

export function Review(props: Props) {
  const { load, inspection, about, proposed, taken, leaving, onLeave, children } = props;
  const formats = useFormats();
  const [name, setName] = useState(proposed);
  const [accepted, setAccepted] = useState(false);
  const isBusy = load.stage !== 'ready';
  const refused = load.error instanceof ApiError && load.error.code === 'many-rejects';
  const asks = refused || rejectsMany(inspection);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    load.load(name.trim(), asks && accepted ? { rejects_allowed: 1 } : {});
  };
  const found = { inspection, options: load.options, disabled: isBusy, onCorrect: load.correct };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed" role="status">
          {[
            inspection.format,
            ...(about === undefined ? [] : [about]),
            t`${inspection.columns.length} columns`,
            inspection.complete
              ? t`all ${formats.number(inspection.records_seen)} records looked at`
              : t`the first ${formats.number(inspection.records_seen)} records looked at`,
          ].join(' · ')}
        </Text>
        {children}
        <Warnings warnings={inspection.warnings} />
        <Alternatives
          {...{ options: load.options, disabled: isBusy, onCorrect: load.correct }}
          alternatives={inspection.alternatives.filter(({ column }) => column === null)}
          title={t`Other ways to read this file`}
        />
        <ColumnFindings {...found} />
        <TextInput
          label={t`Dataset name`}
          description={
            taken.includes(name.trim())
              ? t`Exists already: this becomes its next version, and the present one can be restored.`
              : t`Rows that do not fit their column’s type are kept apart with the reason; none is lost.`
          }
          value={name}
          error={fieldMessages(load.error).dataset}
          required
          maxLength={200}
          disabled={load.stage === 'loading'}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <FormError error={load.error} />
        {asks && (
          <Rejects
            inspection={inspection}
            accepted={accepted}
            disabled={isBusy}
            onAccept={setAccepted}
          />
        )}
        {load.stage === 'loading' ? (
          <WorkProgress
            doing={load.work?.doing ?? t`Waiting`}
            done={load.work?.done ?? 0}
            total={load.work?.total ?? null}
            onCancel={load.cancel}
          />
        ) : (
          <FormFooter
            submit={t`Load`}
            cancel={leaving}
            isPending={load.stage === 'inspecting'}
            isDisabled={!name.trim() || (asks && !accepted)}
            onCancel={onLeave}
          />
        )}
      </Stack>
    </form>
  );
}
