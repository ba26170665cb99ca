/** A new run that shares the history before a step and goes on with changes, on a branch of its own. */
import { t } from '@lingui/core/macro';
import { Modal, Select, Stack, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { RunDetail } from '@/api/run-types';
import { callsQuery, forkRun } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import codeClasses from '@/components/CodeField.module.css';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';
import { useSearchParam } from '@/components/use-search-param';
import { asText, forkFields, typedValue } from './fork-fields';

interface Props {
  run: RunDetail;
  opened: boolean;
  onClose: () => void;
}

export function ForkDialog({ run, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Fork this run`} size="36rem">
      {opened && <ForkForm run={run} onClose={onClose} />}
    </Modal>
  );
}

/** Values by JSON pointer, or what is wrong with them. */
export function changesIn(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return t`Write an object: ${'{'}"/inputs/limit": 5${'}'}`;
    }
    const wrong = Object.keys(value).find((pointer) => !/^\/(inputs|document)(\/|$)/.test(pointer));
    if (wrong !== undefined) return t`${wrong} must begin with /inputs or /document.`;
    return value as Record<string, unknown>;
  } catch (error) {
    return t`This is not JSON yet: ${(error as Error).message}`;
  }
}

function ForkForm({ run, onClose }: Omit<Props, 'opened'>) {
  const project = useProject();
  const navigate = useNavigate();
  const calls = useQuery(callsQuery(project.id, run.id)).data ?? [];
  // The first step, until another one is chosen.
  const [wanted] = useSearchParam('at');
  const [chosen, setAt] = useState<string | null | undefined>(wanted ?? undefined);
  const at = chosen === undefined ? (calls[0]?.key ?? null) : chosen;
  const [text, setText] = useState('');
  const fields = forkFields(run, at);
  const [picked, setPicked] = useState<Record<string, string>>({});
  const shown = fields.filter(({ pointer }) => pointer in picked);
  const typed = shown.map((field) => ({
    ...field,
    typed: picked[field.pointer] ?? '',
    read: typedValue(field, picked[field.pointer] ?? ''),
  }));
  const others = changesIn(text);
  const changes =
    typeof others === 'string' || typed.some(({ read }) => 'error' in read)
      ? null
      : {
          ...Object.fromEntries(
            typed.flatMap(({ pointer, read }) => ('value' in read ? [[pointer, read.value]] : [])),
          ),
          ...others,
        };
  const fork = useMutation({
    mutationFn: (given: Record<string, unknown>) =>
      forkRun(project.id, run.id, { at, changes: given }),
    onSuccess: ({ id }) => {
      showDone(t`Forked onto a branch of its own`);
      void navigate({ to: projectPath(project.id, 'runs', id), search: {} });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (changes !== null) fork.mutate(changes);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Select
          label={t`From before the step`}
          description={t`Steward keeps what the steps before it did and runs this step and those after it again.`}
          data={[
            ...new Set([...(wanted === null ? [] : [wanted]), ...calls.map(({ key }) => key)]),
          ]}
          value={at}
          clearable
          placeholder={t`After the last step`}
          clearButtonProps={{ 'aria-label': t`After the last step` }}
          onChange={setAt}
        />
        <Select
          label={t`Change a value`}
          placeholder={
            fields.length === 0 ? t`This step has no values to change` : t`Choose a value`
          }
          data={fields
            .filter(({ pointer }) => !(pointer in picked))
            .map(({ pointer, label }) => ({ value: pointer, label }))}
          value={null}
          searchable
          disabled={fields.length === 0}
          onChange={(pointer) => {
            const field = fields.find((each) => each.pointer === pointer);
            if (field) setPicked({ ...picked, [field.pointer]: asText(field.value) });
          }}
        />
        {typed.map((field) => (
          <Textarea
            key={field.pointer}
            label={field.label}
            value={field.typed}
            error={'error' in field.read ? field.read.error : null}
            autosize
            minRows={1}
            maxRows={14}
            onChange={({ currentTarget }) =>
              setPicked({ ...picked, [field.pointer]: currentTarget.value })
            }
          />
        ))}
        <Textarea
          label={t`Other changes (JSON)`}
          description={t`New values by JSON pointer, as in the request under “Inputs and outputs”.`}
          placeholder={t`${'{'}"/document/nodes/0/arguments/operation": "collapse_spaces"${'}'}`}
          value={text}
          error={typeof others === 'string' ? others : null}
          autosize
          minRows={2}
          maxRows={14}
          spellCheck={false}
          classNames={{ input: codeClasses.code ?? '' }}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <FormError error={fork.error} />
        <FormFooter
          submit={t`Fork`}
          cancel={t`Close`}
          isPending={fork.isPending}
          isDisabled={changes === null}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
