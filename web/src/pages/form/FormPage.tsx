/** Shows the form behind a link, and thanks whoever has sent it. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { CircleCheck, Info } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { fieldMessages } from '@/api/errors';
import { type OpenForm, openFormQuery, useAnswerForm } from '@/api/triggers';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { argumentsOf, fieldsOf, initialValues } from '@/components/schema-form';
import { SchemaForm } from '@/components/SchemaForm';
import { VisitorPage } from '@/components/VisitorPage';

export default function FormPage() {
  const { token }: { token?: string } = useSearch({ strict: false });
  if (token === undefined) {
    return (
      <VisitorPage title={t`Form`}>
        <Alert color="gray" icon={<Info size={16} aria-hidden />}>
          {t`This link is incomplete. Copy the whole link.`}
        </Alert>
      </VisitorPage>
    );
  }
  return <Opened token={token} />;
}

function Opened({ token }: { token: string }) {
  const query = useQuery(openFormQuery(token));
  if (query.isError) {
    return (
      <VisitorPage title={t`Form`}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </VisitorPage>
    );
  }
  if (query.isPending) {
    return (
      <VisitorPage title={t`Form`}>
        <Stack aria-busy>
          <Skeleton height={14} width="80%" />
          <Skeleton height={34} />
        </Stack>
      </VisitorPage>
    );
  }
  return (
    <VisitorPage title={query.data.heading}>
      <Filling token={token} form={query.data} />
    </VisitorPage>
  );
}

function Filling({ token, form }: { token: string; form: OpenForm }) {
  const fields = titled(form.fields);
  const [values, setValues] = useState(() => initialValues(fields));
  const answer = useAnswerForm();
  if (answer.isSuccess) {
    return (
      <Alert color="green" icon={<CircleCheck size={16} aria-hidden />} role="status">
        {answer.data.thanks}
      </Alert>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    answer.mutate({ token, values: argumentsOf(fields, values) });
  };
  const refused = fieldMessages(answer.error);
  const isElsewhere = !fields.some(({ name }) => name in refused);
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {form.text !== '' && (
          <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
            {form.text}
          </Text>
        )}
        <SchemaForm
          fields={fields}
          values={values}
          columns={[]}
          errors={refused}
          onChange={setValues}
        />
        {isElsewhere && <FormError error={answer.error} />}
        <Button type="submit" loading={answer.isPending}>
          {t`Send`}
        </Button>
      </Stack>
    </form>
  );
}

/** The fields with the names that the author of the form gave them. */
function titled(schema: Record<string, unknown>) {
  const properties = (schema.properties ?? {}) as Record<string, { title?: unknown }>;
  return fieldsOf(schema).map((field) => {
    const title = properties[field.name]?.title;
    return typeof title === 'string' ? { ...field, label: title } : field;
  });
}
