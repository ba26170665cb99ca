/** A flow as YAML, with a form for what it wants to be given. */
import { t } from '@lingui/core/macro';
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldMessages } from '@/api/errors';
import type { Run } from '@/api/run-types';
import { startRun } from '@/api/runs';
import { useProject } from '@/app/project';
import { EXAMPLE_FLOW, FlowField, useFlowCheck } from '@/components/FlowField';
import type { FormValues } from '@/components/schema-form';
import { type JsonSchema, toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import { Refusal } from './StartTool';

interface Props {
  onStarted: (run: Run) => void;
  onClose: () => void;
}

export function StartFlow({ onStarted, onClose }: Props) {
  const project = useProject();
  const [text, setText] = useState(EXAMPLE_FLOW);
  const [given, setGiven] = useState<FormValues>({});
  const [problems, setProblems] = useState<Record<string, string>>({});
  const flow = useFlowCheck(text);
  const wanted = flow.check?.flow?.inputs as JsonSchema | undefined;
  const fields = wanted ? toolFieldsOf(wanted, true) : [];
  const values = { ...toolValues(fields), ...given };
  const start = useMutation({
    mutationFn: (inputs: Record<string, unknown>) => startRun(project.id, { flow: text, inputs }),
    onSuccess: onStarted,
  });
  const submit = () => {
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems === null) start.mutate(filled.arguments);
  };
  return (
    <Stack gap="sm">
      <FlowField value={text} onChange={setText} check={flow} />
      {fields.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            {t`Inputs`}
          </Text>
          <ToolForm fields={fields} values={values} errors={problems} onChange={setGiven} />
        </>
      )}
      <Refusal error={start.error} messages={fieldMessages(start.error)} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button
          disabled={flow.check?.valid !== true || flow.isChecking}
          loading={start.isPending}
          onClick={submit}
        >
          {t`Start`}
        </Button>
      </Group>
    </Stack>
  );
}
