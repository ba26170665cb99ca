/** A new run that shares the history before a step and goes on with changes, on a branch of its own. */
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

interface Props {
  run: RunDetail;
  opened: boolean;
  onClose: () => void;
}

export function ForkDialog({ run, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Fork this run" size="36rem">
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
      return 'Write an object: {"/inputs/limit": 5}';
    }
    const wrong = Object.keys(value).find((pointer) => !/^\/(inputs|document)(\/|$)/.test(pointer));
    if (wrong !== undefined) return `${wrong} must begin with /inputs or /document.`;
    return value as Record<string, unknown>;
  } catch (error) {
    return `This is not JSON yet: ${(error as Error).message}`;
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
  const changes = changesIn(text);
  const fork = useMutation({
    mutationFn: (given: Record<string, unknown>) =>
      forkRun(project.id, run.id, { at, changes: given }),
    onSuccess: ({ id }) => {
      showDone('Forked onto a branch of its own');
      void navigate({ to: projectPath(project.id, 'runs', id), search: {} });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typeof changes !== 'string') fork.mutate(changes);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Select
          label="From before the step"
          description="Everything before it is shared; it and what follows is done anew."
          data={[
            ...new Set([...(wanted === null ? [] : [wanted]), ...calls.map(({ key }) => key)]),
          ]}
          value={at}
          clearable
          placeholder="After the last step"
          clearButtonProps={{ 'aria-label': 'After the last step' }}
          onChange={setAt}
        />
        <Textarea
          label="Changes (JSON)"
          description="New values by JSON pointer; as in the request under “Inputs and outputs”."
          placeholder={'{"/document/nodes/0/arguments/operation": "collapse_spaces"}'}
          value={text}
          error={typeof changes === 'string' ? changes : null}
          autosize
          minRows={4}
          maxRows={14}
          spellCheck={false}
          classNames={{ input: codeClasses.code ?? '' }}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <FormError error={fork.error} />
        <FormFooter
          submit="Fork"
          cancel="Close"
          isPending={fork.isPending}
          isDisabled={typeof changes === 'string'}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
