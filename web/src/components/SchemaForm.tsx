/** A form made from JSON Schema; fields that name columns offer those of the dataset. */
import { t } from '@lingui/core/macro';
import {
  ActionIcon,
  Button,
  Group,
  Input,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { typeChoices } from './column-types';
import type { Field, FieldValue, FormValues } from './schema-form';

interface Props {
  fields: Field[];
  values: FormValues;
  /** Names of the dataset's columns. */
  columns: string[];
  /** Messages by field. */
  errors?: Record<string, string>;
  onChange: (values: FormValues) => void;
}

export function SchemaForm({ fields, values, columns, errors = {}, onChange }: Props) {
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={values[field.name] ?? field.initial}
          columns={columns}
          error={errors[field.name]}
          onChange={(value) => onChange({ ...values, [field.name]: value })}
        />
      ))}
    </Stack>
  );
}

interface FieldProps {
  field: Field;
  value: FieldValue;
  columns: string[];
  error: string | undefined;
  onChange: (value: FieldValue) => void;
}

function FieldInput({ field, value, columns, error, onChange }: FieldProps) {
  const { kind, label, description, required, choices } = field;
  const about = { label, description, error, withAsterisk: required };
  const text = typeof value === 'string' ? value : '';
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  if (kind === 'switch') {
    return (
      <Switch
        label={label}
        description={description}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  }
  if (kind === 'number') {
    const limits = { min: field.minimum, max: field.maximum };
    const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
    return (
      <NumberInput
        {...about}
        {...Object.fromEntries(given)}
        step={field.maximum !== undefined && field.maximum <= 1 ? 0.01 : 1}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => onChange(next)}
      />
    );
  }
  if (kind === 'columns') {
    return (
      <MultiSelect
        {...about}
        data={columns}
        value={texts}
        searchable
        clearable
        placeholder={texts.length === 0 ? t`Choose columns` : ''}
        onChange={onChange}
      />
    );
  }
  if (kind === 'texts' && choices.length > 0) {
    return <MultiSelect {...about} data={choices} value={texts} clearable onChange={onChange} />;
  }
  if (kind === 'texts') {
    return (
      <TagsInput
        {...about}
        value={texts}
        placeholder={t`Type and press Enter`}
        onChange={onChange}
      />
    );
  }
  if (kind === 'map' || kind === 'pairs') {
    return <PairsInput {...{ field, value, columns, error, onChange }} />;
  }
  if (kind === 'text') {
    return (
      <TextInput
        {...about}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  if (kind === 'lines') {
    return (
      <Textarea
        {...about}
        rows={6}
        resize="vertical"
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  const data = { choice: choices, column: columns, type: typeChoices(text || 'VARCHAR') }[kind];
  return (
    <Select
      {...about}
      data={data}
      value={text === '' ? null : text}
      allowDeselect={!required}
      searchable={kind === 'column'}
      placeholder={kind === 'choice' ? '' : t`Choose a ${kind}`}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}

/** Old names and new ones, texts and their replacements, columns that belong together. */
function PairsInput({ field, value, columns, error, onChange }: FieldProps) {
  const pairs = value as [string, string][];
  // Objects with these names are keyed by column; the others by what stands in the cells.
  const byColumn = field.kind === 'pairs' || ['names', 'types'].includes(field.name);
  // Headers and variables are not put in the place of others.
  const isNamed = /headers$|^env$/.test(field.name);
  const [left, right] = isNamed ? [t`Name`, t`Value`] : [t`From`, t`To`];
  const set = (index: number, pair: [string, string]) => onChange(pairs.with(index, pair));
  return (
    <Input.Wrapper
      label={field.label}
      description={field.description}
      error={error}
      withAsterisk={field.required}
    >
      <Stack gap={6} mt={4}>
        {pairs.map(([key, item], index) => (
          <Group key={index} gap={6} wrap="nowrap">
            {byColumn ? (
              <Select
                aria-label={t`Column ${index + 1}`}
                placeholder={t`Column`}
                data={columns}
                value={key === '' ? null : key}
                searchable
                flex={1}
                onChange={(next) => set(index, [next ?? '', item])}
              />
            ) : (
              <TextInput
                aria-label={`${left} ${index + 1}`}
                placeholder={left}
                value={key}
                flex={1}
                onChange={({ currentTarget }) => set(index, [currentTarget.value, item])}
              />
            )}
            {field.choices.length > 0 ? (
              <Select
                aria-label={`${right} ${index + 1}`}
                placeholder={right}
                data={field.choices}
                value={item === '' ? null : item}
                flex={1}
                onChange={(next) => set(index, [key, next ?? ''])}
              />
            ) : (
              <TextInput
                aria-label={`${right} ${index + 1}`}
                placeholder={right}
                value={item}
                flex={1}
                onChange={({ currentTarget }) => set(index, [key, currentTarget.value])}
              />
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Remove line ${index + 1}`}
              disabled={pairs.length === 1}
              onClick={() => onChange(pairs.toSpliced(index, 1))}
            >
              <X size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Plus size={13} aria-hidden />}
            onClick={() => onChange([...pairs, ['', '']])}
          >
            {t`Add a line`}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
