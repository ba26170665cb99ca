/** A form for the arguments of a tool; what a plain form cannot show is written as JSON. */
import { t } from '@lingui/core/macro';
import { MultiSelect, Select, Stack, Textarea } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationsQuery } from '@/api/changes';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { useProject } from '@/app/project';
import classes from './CodeField.module.css';
import { argumentsOf, fieldsOf, type FormValues, initialValues } from './schema-form';
import { NamedField } from './NamedField';
import { SchemaForm } from './SchemaForm';
import type { JsonSchema, ToolField } from './tool-form';

interface Props {
  /** The tool's name; that of an operation has arguments of its own. */
  tool?: string | undefined;
  fields: ToolField[];
  values: FormValues;
  errors: Record<string, string>;
  /** The branch whose datasets and columns are offered; unset: main. */
  branch?: string | undefined;
  onChange: (values: FormValues) => void;
}

/** Names of the chosen datasets' columns on a branch; on main where that branch is not there. */
function useColumns(values: FormValues, branch: string | undefined) {
  const project = useProject();
  const there = useInfiniteQuery(datasetsQuery(project.id, branch));
  const main = useInfiniteQuery({ ...datasetsQuery(project.id), enabled: there.isError });
  const datasets = itemsOf(there.isError ? main.data : there.data);
  const chosen = [values.dataset, values.datasets].flat();
  const columns = datasets
    .filter(({ name }) => chosen.includes(name))
    .flatMap((dataset) => dataset.columns.map(({ name }) => name));
  return { names: datasets.map(({ name }) => name), columns: [...new Set(columns)] };
}

export function ToolForm({ tool, fields, values, errors, branch, onChange }: Props) {
  const { names: datasets, columns } = useColumns(values, branch);
  const set = (name: string, value: string | string[]) => onChange({ ...values, [name]: value });
  return (
    <Stack gap="sm">
      {fields.map(({ field, drawn, names }) => {
        const { name, label, description, required } = field;
        const about = { label, description, error: errors[name], withAsterisk: required };
        const value = values[name];
        const text = typeof value === 'string' ? value : '';
        if (drawn === 'dataset') {
          return (
            <Select
              key={name}
              {...about}
              data={datasets}
              value={text === '' ? null : text}
              searchable
              placeholder={t`Choose a dataset`}
              onChange={(next) => set(name, next ?? '')}
            />
          );
        }
        if (drawn === 'datasets') {
          return (
            <MultiSelect
              key={name}
              {...about}
              data={datasets}
              value={Array.isArray(value) ? (value as string[]) : []}
              onChange={(next) => set(name, next)}
            />
          );
        }
        if (names !== undefined) {
          return (
            <NamedField
              key={name}
              about={about}
              names={names}
              value={value ?? ''}
              onChange={(next) => set(name, next)}
            />
          );
        }
        if (tool === 'clean' && name === 'arguments' && typeof values.operation === 'string') {
          return (
            <OperationArguments
              key={`${name}:${values.operation}`}
              operation={values.operation}
              columns={columns}
              json={text}
              onChange={(next) => set(name, next)}
            />
          );
        }
        if (drawn === 'long' || drawn === 'json') {
          return (
            <Textarea
              key={name}
              {...about}
              label={drawn === 'json' ? t`${label} (JSON)` : label}
              value={text}
              autosize
              minRows={drawn === 'json' ? 2 : 3}
              maxRows={16}
              spellCheck={drawn === 'long'}
              classNames={drawn === 'json' ? { input: classes.code ?? '' } : {}}
              onChange={({ currentTarget }) => set(name, currentTarget.value)}
            />
          );
        }
        return (
          <SchemaForm
            key={name}
            fields={[field]}
            values={values}
            columns={columns}
            errors={errors}
            onChange={onChange}
          />
        );
      })}
    </Stack>
  );
}

interface OperationProps {
  operation: string;
  columns: string[];
  json: string;
  onChange: (json: string) => void;
}

/** The arguments of a cleaning operation, as its own schema has them. */
function OperationArguments({ operation, columns, json, onChange }: OperationProps) {
  const project = useProject();
  const { data } = useQuery(operationsQuery(project.id));
  const known = data?.items.find(({ name }) => name === operation);
  const fields = known ? fieldsOf(known.arguments) : [];
  const [values, setValues] = useState<FormValues | null>(null);
  if (fields.length === 0) return null;
  return (
    <SchemaForm
      fields={fields}
      values={values ?? initialValues(fields, givenIn(json))}
      columns={columns}
      onChange={(next) => {
        setValues(next);
        onChange(JSON.stringify(argumentsOf(fields, next)));
      }}
    />
  );
}

function givenIn(json: string): JsonSchema {
  try {
    return (JSON.parse(json) ?? {}) as JsonSchema;
  } catch {
    return {};
  }
}
