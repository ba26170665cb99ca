/** One setting of a node by its JSON Schema: a picker, a number, a switch, rows of fields, or a text with values. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Stack, Tooltip } from '@mantine/core';
import { Braces, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { insideSentence } from '@/language';
import type { FormValues } from '@/components/schema-form';
import { toolArguments, type ToolField, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import type { CodeLanguage } from '@/api/code-check';
import { CodeText } from './CodeText';
import type { ExpressionCheck } from './expression-scope';
import type { KnownValue } from './known-values';
import { branchRead } from './shown-steps';
import { ValueText } from './ValueText';
import classes from './flows.module.css';

export interface Schema extends Record<string, unknown> {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  /** What a text is written in: a language, or the field beside it that says which. */
  'x-code'?: string | { field: string };
}

interface Props {
  name: string;
  schema: Schema;
  /** Where `$ref` leads. */
  definitions: Record<string, Schema>;
  required: boolean;
  value: unknown;
  values: readonly KnownValue[];
  /** Values of the fields beside it, such as the dataset whose columns are offered. */
  around: Readonly<Record<string, unknown>>;
  /** The branch of the run that is shown, or main: its datasets are what code reads. */
  runBranch: string;
  /** Checks what somebody types. */
  check?: ExpressionCheck;
  /** What is wrong with it, by pointer. */
  problemAt: (pointer: string) => string | undefined;
  /** Fields by pointer whose whole text is an expression. */
  bare: ReadonlySet<string>;
  pointer: string;
  readOnly: boolean;
  /** Undefined takes the field away. */
  onChange: (value: unknown) => void;
}

export function SettingField(props: Props) {
  const { name, definitions, required, value, pointer, check } = props;
  const schema = resolved(props.schema, definitions);
  const field = toolFieldsOf(
    { properties: { [name]: schema }, required: required ? [name] : [] },
    typeof props.around.dataset === 'string' || Array.isArray(props.around.datasets),
  )[0];
  const [asText, setAsText] = useState(false);
  if (!field) return null;
  const rows = schema.type === 'array' ? resolved(schema.items ?? {}, definitions) : {};
  if (rows.properties) return <RowsField {...props} row={rows} label={field.field.label} />;
  if (field.drawn === 'json' && isPlainObject(schema, definitions))
    return <ObjectField {...props} whole={schema} label={titleOf(props.schema, name)} />;
  const isText =
    field.drawn === 'long' ||
    (field.drawn === 'plain' && ['text', 'lines', 'column'].includes(field.field.kind));
  const isTemplate = typeof value === 'string' && value.includes('${');
  if (isText || isTemplate || asText) {
    const text = {
      label: field.field.label,
      description: field.field.description,
      required,
      value: typeof value === 'string' ? value : '',
      values: props.values,
      check:
        check &&
        ((written: string, isBare: boolean) =>
          check(written, isBare, { ...props.schema, $defs: definitions })),
      error: props.problemAt(pointer),
      isBare: props.bare.has(pointer.replaceAll(/\/\d+\//g, '/*/')),
      isCode: schema['x-code'] !== undefined,
      readOnly: props.readOnly,
      onChange: (next: string) => props.onChange(next === '' && !required ? undefined : next),
    };
    const language = languageOf(schema, props.around);
    // Code with expressions in it is code once the flow runs.
    if (language === null || (check !== undefined && isTemplate)) return <ValueText {...text} />;
    return (
      <CodeText
        {...text}
        language={language}
        parameters={parametersOf(props.around)}
        branch={typeof props.around.branch === 'string' ? props.around.branch : null}
        runBranch={props.runBranch}
      />
    );
  }
  return (
    <Group align="flex-end" gap={4} wrap="nowrap">
      <div style={{ flex: 1, minWidth: 0 }}>
        <FormField
          field={field}
          value={value}
          around={props.around}
          branch={branchRead(props.around, props.runBranch)}
          problem={props.problemAt(pointer)}
          onChange={props.onChange}
        />
      </div>
      <Tooltip label={t`Use a value of an earlier step`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Use a value of an earlier step for ${field.field.label}`}
          disabled={props.readOnly}
          onClick={() => setAsText(true)}
        >
          <Braces size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

function languageOf(schema: Schema, around: Props['around']): CodeLanguage | null {
  const told = schema['x-code'];
  const name = typeof told === 'object' ? (around[told.field] ?? 'sql') : told;
  return name === 'sql' || name === 'python' ? name : null;
}

const NO_PARAMETERS: Record<string, unknown> = {};

/** The values that code is given by name, as the field beside it has them. */
function parametersOf({ parameters }: Props['around']): Record<string, unknown> {
  const isMap = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return isMap ? (parameters as Record<string, unknown>) : NO_PARAMETERS;
}

interface FormProps {
  field: ToolField;
  value: unknown;
  around: Readonly<Record<string, unknown>>;
  branch: string;
  problem: string | undefined;
  onChange: (value: unknown) => void;
}

/** Keeps what is typed until it is a value, such as JSON that is not complete yet. */
function FormField({ field, value, around, branch, problem, onChange }: FormProps) {
  const { name } = field.field;
  const fresh = () => toolValues([field], value === undefined ? {} : { [name]: value });
  const [shown, setShown] = useState({ value: JSON.stringify(value), values: fresh() });
  const [problems, setProblems] = useState<Record<string, string>>({});
  if (shown.value !== JSON.stringify(value)) {
    setShown({ value: JSON.stringify(value), values: fresh() });
  }
  return (
    <ToolForm
      fields={[field]}
      branch={branch}
      values={{ ...datasetsIn(around), ...shown.values }}
      errors={
        problem === undefined || problems[name] !== undefined ? problems : { [name]: problem }
      }
      onChange={(all) => {
        const values = { [name]: all[name] ?? '' };
        const filled = toolArguments(
          [{ ...field, field: { ...field.field, required: false } }],
          values,
        );
        setProblems(filled.problems ?? {});
        const next = filled.problems === null ? filled.arguments[name] : value;
        setShown({ value: JSON.stringify(next), values });
        if (filled.problems === null && JSON.stringify(next) !== JSON.stringify(value))
          onChange(next);
      }}
    />
  );
}

/** The datasets that a call works on: their columns can be chosen. */
function datasetsIn({ dataset, datasets }: Readonly<Record<string, unknown>>): FormValues {
  const several = Array.isArray(datasets)
    ? datasets.filter((each) => typeof each === 'string')
    : [];
  return {
    ...(typeof dataset === 'string' ? { dataset } : {}),
    ...(several.length > 0 ? { datasets: several } : {}),
  };
}

/** A list of objects: a frame of fields for each. */
function RowsField(props: Props & { row: Schema; label: string }) {
  const { value, row, label, pointer, onChange, readOnly } = props;
  const rows = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return (
    <fieldset className={classes.rows}>
      <legend>{label}</legend>
      <Stack gap="sm">
        {rows.map((each, index) => (
          <Group key={index} align="flex-start" gap={4} wrap="nowrap">
            <Stack gap="xs" flex={1}>
              {Object.entries(row.properties ?? {}).map(([name, schema]) => (
                <SettingField
                  key={name}
                  {...props}
                  name={name}
                  schema={schema}
                  required={row.required?.includes(name) ?? false}
                  value={each[name]}
                  around={each}
                  pointer={`${pointer}/${index}/${name}`}
                  onChange={(next) => onChange(rows.with(index, without(each, name, next)))}
                />
              ))}
            </Stack>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Remove ${label} ${index + 1}`}
              disabled={readOnly || rows.length === 1}
              onClick={() => onChange(rows.toSpliced(index, 1))}
            >
              <X size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {!readOnly && (
          <Group>
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<Plus size={13} aria-hidden />}
              onClick={() => onChange([...rows, {}])}
            >
              {t`Add to ${insideSentence(label)}`}
            </Button>
          </Group>
        )}
      </Stack>
    </fieldset>
  );
}

/** Named fields that belong together; without any of them the setting is taken away. */
function ObjectField(props: Props & { whole: Schema; label: string }) {
  const { value, whole, label, pointer, onChange } = props;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const fields = isObject ? (value as Record<string, unknown>) : {};
  return (
    <fieldset className={classes.rows}>
      <legend>{label}</legend>
      <Stack gap="xs">
        {Object.entries(whole.properties ?? {}).map(([name, schema]) => (
          <SettingField
            key={name}
            {...props}
            name={name}
            schema={schema}
            required={whole.required?.includes(name) ?? false}
            value={fields[name]}
            around={fields}
            pointer={`${pointer}/${name}`}
            onChange={(next) => {
              const changed = without(fields, name, next);
              onChange(Object.keys(changed).length > 0 ? changed : undefined);
            }}
          />
        ))}
      </Stack>
    </fieldset>
  );
}

const PLAIN = ['string', 'integer', 'number', 'boolean'];

/** Whether all its fields are simple; what is nested deeper is written as JSON. */
function isPlainObject({ properties }: Schema, definitions: Record<string, Schema>): boolean {
  const inner = Object.values(properties ?? {}).map((each) => resolved(each, definitions));
  return inner.length > 0 && inner.every(({ type }) => type !== undefined && PLAIN.includes(type));
}

function titleOf(schema: Schema, name: string): string {
  const spaced = name.replaceAll('_', ' ');
  return typeof schema.title === 'string'
    ? schema.title
    : spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

function without(fields: Record<string, unknown>, name: string, value: unknown) {
  const { [name]: _before, ...others } = fields;
  return value === undefined ? others : { ...fields, [name]: value };
}

/** The schema with its reference followed, and without the choice of null. */
function resolved(schema: Schema, definitions: Record<string, Schema>): Schema {
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  const { anyOf: _choices, ...rest } = schema;
  const picked = only && others.length === 0 ? { ...rest, ...only } : schema;
  if (picked.$ref === undefined) return picked;
  const found = definitions[picked.$ref.slice(picked.$ref.lastIndexOf('/') + 1)] ?? {};
  const { $ref: _ref, ...own } = picked;
  return { ...found, ...own };
}
