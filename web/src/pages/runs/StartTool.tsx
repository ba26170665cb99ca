/** Picks a tool and fills in its arguments. */
import { t } from '@lingui/core/macro';
import { Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import type { Run, Tool } from '@/api/run-types';
import { startRun } from '@/api/runs';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { RiskChip } from '@/components/RiskChip';
import { toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import classes from './runs.module.css';

interface Props {
  onStarted: (run: Run) => void;
  onClose: () => void;
}

export function StartTool({ onStarted, onClose }: Props) {
  const project = useProject();
  const tools = useQuery(toolsQuery(project.id));
  const [name, setName] = useState<string | null>(null);
  const tool = tools.data?.find((known) => known.name === name);
  if (tools.isError) return <ErrorState error={tools.error} retry={() => void tools.refetch()} />;
  return (
    <Stack>
      <Select
        label={t`Tool`}
        placeholder={t`Choose a tool`}
        data={(tools.data ?? []).map(({ name: value, title }) => ({ value, label: title }))}
        value={name}
        searchable
        data-autofocus
        onChange={setName}
      />
      {tool && <Arguments key={tool.name} tool={tool} onStarted={onStarted} onClose={onClose} />}
    </Stack>
  );
}

function Arguments({ tool, onStarted, onClose }: Props & { tool: Tool }) {
  const project = useProject();
  const fields = toolFieldsOf(tool.arguments, true);
  const [values, setValues] = useState(() => toolValues(fields));
  const [title, setTitle] = useState('');
  const [problems, setProblems] = useState<Record<string, string>>({});
  const start = useMutation({
    mutationFn: (given: Record<string, unknown>) =>
      startRun(project.id, {
        tool: tool.name,
        arguments: given,
        title: title.trim() || tool.title,
      }),
    onSuccess: onStarted,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems === null) start.mutate(filled.arguments);
  };
  const refused = fieldMessages(start.error);
  const isElsewhere = !fields.some(({ field }) => field.name in refused);
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <div className={classes.tool}>
          <Text size="sm" c="dimmed">
            {tool.description}
          </Text>
          <RiskChip risk={tool.risk} />
        </div>
        <ToolForm
          tool={tool.name}
          fields={fields}
          values={values}
          errors={{ ...refused, ...problems }}
          onChange={setValues}
        />
        <TextInput
          label={t`Title`}
          description={t`How the run is listed.`}
          placeholder={tool.title}
          value={title}
          maxLength={200}
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        {isElsewhere && <Refusal error={start.error} messages={refused} />}
        <FormFooter submit={t`Start`} isPending={start.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

/** Refusals that speak of no field of this form are said below it. */
export function Refusal({ error, messages }: { error: unknown; messages: Record<string, string> }) {
  const said = Object.values(messages);
  if (said.length === 0) return <FormError error={error} />;
  return <FormError error={new Error(said.join(' '))} />;
}
