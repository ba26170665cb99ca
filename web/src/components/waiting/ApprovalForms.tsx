/** What one can say to an approval besides yes: no with a reason, yes with changes, or ask somebody else. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Select, Stack, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import { useDelegate } from '@/api/inbox';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { roleAtLeast } from '@/api/roles';
import type { Approval } from '@/api/run-types';
import { useSession } from '@/api/session';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { FormError } from '../FormError';
import { type JsonSchema, toolArguments, toolFieldsOf, toolValues } from '../tool-form';
import { ToolForm } from '../ToolForm';
import { showDone } from '../undo';
import { useAnswered } from './answering';
import classes from './waiting.module.css';

interface RejectProps {
  isPending: boolean;
  onReject: (reason: string) => void;
  onBack: () => void;
}

export function RejectForm({ isPending, onReject, onBack }: RejectProps) {
  const [reason, setReason] = useState('');
  const [isMissing, setMissing] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setMissing(reason.trim() === '');
    if (reason.trim() !== '') onReject(reason.trim());
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t`Why not?`}
          description={t`The reason goes to the run and into its journal.`}
          withAsterisk
          maxLength={1000}
          value={reason}
          error={isMissing && reason.trim() === '' ? t`Say why you reject it.` : null}
          // The form was asked for a moment ago, by a button or a key.
          ref={(input) => input?.focus()}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <div className={classes.actions}>
          <Button type="submit" color="red" loading={isPending}>
            {t`Reject`}
          </Button>
          <Button variant="default" onClick={onBack}>
            {t`Back`}
          </Button>
        </div>
      </Stack>
    </form>
  );
}

interface EditProps {
  approval: Approval;
  isPending: boolean;
  error: unknown;
  onApprove: (edited: Record<string, unknown>) => void;
  onBack: () => void;
}

export function EditForm(props: EditProps) {
  const project = useProject();
  const { data } = useQuery(toolsQuery(project.id));
  const tool = data?.find(({ name }) => name === props.approval.tool);
  return tool ? <Edit {...props} schema={tool.arguments} /> : null;
}

function Edit({
  approval,
  schema,
  isPending,
  error,
  onApprove,
  onBack,
}: EditProps & { schema: JsonSchema }) {
  const fields = toolFieldsOf(schema, true);
  const [values, setValues] = useState(() => toolValues(fields, approval.body.arguments));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const filled = toolArguments(fields, values);
    setProblems(filled.problems ?? {});
    if (filled.problems === null) onApprove(filled.arguments);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Alert variant="light">
          {t`What you approve then is the call with your changes; it gets a hash of its own.`}
        </Alert>
        <ToolForm
          tool={approval.tool}
          fields={fields}
          values={values}
          errors={{ ...fieldMessages(error), ...problems }}
          onChange={setValues}
        />
        <div className={classes.actions}>
          <Button type="submit" loading={isPending}>
            {t`Approve with these changes`}
          </Button>
          <Button variant="default" onClick={onBack}>
            {t`Back`}
          </Button>
        </div>
      </Stack>
    </form>
  );
}

export function DelegateForm({ approval, onBack }: { approval: Approval; onBack: () => void }) {
  const project = useProject();
  const { user } = useSession();
  const members = itemsOf(useInfiniteQuery(membersQuery(project.id)).data);
  const delegate = useDelegate(project.id);
  const { send, isPending, error } = useAnswered();
  const [userId, setUserId] = useState<string | null>(null);
  const able = members.filter(
    ({ role, user_id }) => roleAtLeast(role, 'operator') && user_id !== user.id,
  );
  const name = able.find(({ user_id }) => user_id === userId)?.name;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (userId === null) return;
    void send(
      () => delegate.mutateAsync({ approvalId: approval.id, userId }),
      () => showDone(t`${name ?? t`Somebody else`} decides now`),
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Select
          label={t`Who decides instead?`}
          description={t`From then on only they can decide it.`}
          placeholder={able.length === 0 ? t`No one else can approve` : t`Choose a member`}
          data={able.map(({ user_id, name: label }) => ({ value: user_id, label }))}
          value={userId}
          disabled={able.length === 0}
          onChange={setUserId}
        />
        <FormError error={error} />
        <div className={classes.actions}>
          <Button type="submit" disabled={userId === null} loading={isPending}>
            {t`Delegate`}
          </Button>
          <Button variant="default" onClick={onBack}>
            {t`Back`}
          </Button>
        </div>
      </Stack>
    </form>
  );
}
