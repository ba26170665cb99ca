/** Any operation of the catalogue, with a form made from its schema. */
import { t } from '@lingui/core/macro';
import { Button, Group, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import type { ChangeRequest } from '@/api/changes';
import type { Dataset, Operation } from '@/api/data-types';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { useProject } from '@/app/project';
import { argumentsOf, fieldsOf, initialValues, missingFields } from '@/components/schema-form';
import { SchemaForm } from '@/components/SchemaForm';
import { useSearchParam } from '@/components/use-search-param';

interface Props {
  dataset: Dataset;
  operations: Operation[];
  onPreview: (change: ChangeRequest) => void;
}

export function OperationForm({ dataset, operations, onPreview }: Props) {
  const [name, setName] = useSearchParam('operation');
  const [column] = useSearchParam('column');
  const operation = operations.find((known) => known.name === name);
  return (
    <Stack>
      <Select
        label={t`Operation`}
        placeholder={t`Choose an operation`}
        data={operations.map(({ name: value, title }) => ({ value, label: title }))}
        value={operation?.name ?? null}
        searchable
        onChange={setName}
      />
      {operation && (
        <Arguments
          key={operation.name}
          dataset={dataset}
          operation={operation}
          given={column === null ? {} : { column, columns: column }}
          onPreview={onPreview}
        />
      )}
    </Stack>
  );
}

interface ArgumentsProps {
  dataset: Dataset;
  operation: Operation;
  given: Record<string, unknown>;
  onPreview: (change: ChangeRequest) => void;
}

function Arguments({ dataset, operation, given, onPreview }: ArgumentsProps) {
  const fields = fieldsOf(operation.arguments);
  const [values, setValues] = useState(() => initialValues(fields, given));
  const [others, setOthers] = useState<string[]>([]);
  const [target, setTarget] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const isSeveral = operation.datasets === 'several';
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const missing = missingFields(fields, values);
    const lacking = isSeveral
      ? [...missing, ...(others.length === 0 ? ['others'] : []), ...(target ? [] : ['target'])]
      : missing;
    setErrors(Object.fromEntries(lacking.map((name) => [name, t`This is needed.`])));
    if (lacking.length > 0) return;
    onPreview({
      operation: operation.name,
      datasets: [dataset.name, ...others],
      arguments: argumentsOf(fields, values),
      ...(isSeveral ? { target } : {}),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {operation.description.replaceAll(/\s+/g, ' ')}
        </Text>
        {isSeveral && (
          <>
            <OtherDatasets
              dataset={dataset.name}
              value={others}
              error={errors.others}
              onChange={setOthers}
            />
            <TextInput
              label={t`Name of the result`}
              withAsterisk
              value={target}
              error={errors.target}
              onChange={({ currentTarget }) => setTarget(currentTarget.value)}
            />
          </>
        )}
        <SchemaForm
          fields={fields}
          values={values}
          columns={dataset.columns.map(({ name }) => name)}
          errors={errors}
          onChange={setValues}
        />
        <Group justify="flex-end">
          <Button type="submit">{t`Preview`}</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface OthersProps {
  dataset: string;
  value: string[];
  error: string | undefined;
  onChange: (names: string[]) => void;
}

function OtherDatasets({ dataset, value, error, onChange }: OthersProps) {
  const project = useProject();
  const query = useInfiniteQuery(datasetsQuery(project.id));
  const names = itemsOf(query.data).map(({ name }) => name);
  return (
    <MultiSelect
      label={t`Other datasets`}
      withAsterisk
      data={names.filter((name) => name !== dataset)}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
