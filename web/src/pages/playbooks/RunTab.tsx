/** The form of a playbook's inputs, and the button that starts it. */
import { t } from '@lingui/core/macro';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Play, ShieldOff } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { ApiError } from '@/api/errors';
import { type PlaybookDetail, runPlaybook, sampleInputsQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { FormError } from '@/components/FormError';
import { toolArguments } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import { useSearchParam } from '@/components/use-search-param';
import { inputFields, inputValues } from './inputs';
import { Needs } from './Needs';

export default function RunTab({ playbook }: { playbook: PlaybookDetail }) {
  if (!playbook.may_run) {
    return (
      <EmptyState icon={ShieldOff} title={t`This does not run at the moment`}>
        {playbook.state === 'archived'
          ? t`It is archived. An editor can bring it back under Settings.`
          : t`Operators run a playbook once an editor has deployed a revision of it.`}
      </EmptyState>
    );
  }
  return <Prepared playbook={playbook} />;
}

/** The form, filled for the sample data while the address says of which blueprint it is. */
function Prepared({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const [blueprint] = useSearchParam('sample');
  const sample = useQuery({
    ...sampleInputsQuery(project.id, blueprint ?? ''),
    enabled: blueprint !== null,
  });
  if (blueprint !== null && sample.isPending) return <Skeleton height={160} aria-busy />;
  return (
    <InputsForm
      // Another deployed revision may ask for something else.
      key={playbook.deployed ?? `draft-${playbook.head}`}
      playbook={playbook}
      given={sample.data ?? {}}
    />
  );
}

interface FormProps {
  playbook: PlaybookDetail;
  given: Record<string, unknown>;
}

function InputsForm({ playbook, given }: FormProps) {
  const project = useProject();
  const navigate = useNavigate();
  const fields = inputFields(playbook.inputs);
  const [values, setValues] = useState(() => inputValues(playbook.inputs, given));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const start = useMutation({
    mutationFn: (inputs: Record<string, unknown>) => runPlaybook(project.id, playbook.id, inputs),
    onSuccess: (run) => void navigate({ to: projectPath(project.id, 'runs', run.id) }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems === null) start.mutate(filled.arguments);
  };
  const { error } = start;
  const said = error instanceof ApiError ? new Error(error.detail) : error;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" maw="36rem">
        {playbook.deployed === null && (
          <Text size="sm" c="dimmed">
            {t`This is a draft: you try its newest revision. Deploy it under Versions so that others can run it.`}
          </Text>
        )}
        <Needs playbook={playbook} />
        {fields.length === 0 && <Text size="sm">{t`It needs no inputs.`}</Text>}
        <ToolForm fields={fields} values={values} errors={problems} onChange={setValues} />
        <FormError error={said} />
        <Group>
          <Button
            type="submit"
            leftSection={<Play size={14} aria-hidden />}
            loading={start.isPending}
          >
            {t`Run`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
