/** A question of a run, with a form made from the schema of its answer. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { useAnswer } from '@/api/inbox';
import type { Waiting, WaitRequest } from '@/api/run-types';
import { useProject } from '@/app/project';
import { FormError } from '../FormError';
import { asForm, toolArguments, toolFieldsOf, toolValues } from '../tool-form';
import { ToolForm } from '../ToolForm';
import { showDone } from '../undo';
import { useAnswered } from './answering';
import classes from './waiting.module.css';

export interface CardProps {
  waiting: Waiting;
  request: WaitRequest;
  hasKeys: boolean;
}

export function QuestionCard({ waiting, request }: CardProps) {
  const project = useProject();
  const answer = useAnswer(project.id);
  const { send, isPending, error } = useAnswered();
  const { schema, isWrapped } = asForm(request.form ?? request.answer ?? { type: 'string' });
  const fields = toolFieldsOf(schema, false);
  const [values, setValues] = useState(() => toolValues(fields));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems !== null) return;
    const given: unknown = isWrapped ? filled.arguments.answer : filled.arguments;
    const { run_id: runId, key } = waiting;
    void send(
      () => answer.mutateAsync({ runId, key, answer: given }),
      () => showDone(t`Answered`),
    );
  };
  return (
    <form onSubmit={submit} noValidate className={classes.card}>
      {request.details !== undefined && request.details !== '' && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
          {request.details}
        </Text>
      )}
      {request.wrong !== undefined && (
        <Alert color="yellow" variant="light" title={t`The last answer did not fit`}>
          {request.wrong}
        </Alert>
      )}
      <Stack gap="sm" maw="36rem">
        <ToolForm fields={fields} values={values} errors={problems} onChange={setValues} />
      </Stack>
      <FormError error={error} />
      <div className={classes.actions}>
        <Button type="submit" loading={isPending}>
          {t`Answer`}
        </Button>
      </div>
    </form>
  );
}
