/** Rows of names and values for what a query asks for by name. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import classes from './console.module.css';
import { kept, nameProblem, type Row, type ShownRow } from './parameters';

interface Props {
  rows: ShownRow[];
  onChange: (rows: Row[]) => void;
}

export function ParameterRows({ rows, onChange }: Props) {
  const change = (at: number, part: Partial<Row>) =>
    onChange(kept(rows.map((row, index) => (index === at ? { ...row, ...part } : row))));
  return (
    <Stack gap="xs" role="group" aria-label={t`Parameters`}>
      {rows.map(({ name, value, isAsked }, index) => (
        <Group key={index} gap="xs" align="flex-start" wrap="nowrap" className={classes.parameter}>
          <TextInput
            aria-label={t`Name of parameter ${index + 1}`}
            placeholder={t`name`}
            value={name}
            readOnly={isAsked}
            error={nameProblem(name, rows)}
            onChange={({ currentTarget }) => change(index, { name: currentTarget.value.trim() })}
          />
          <TextInput
            aria-label={t`Value of ${name || t`parameter ${index + 1}`}`}
            placeholder={t`value`}
            value={value}
            onChange={({ currentTarget }) => change(index, { value: currentTarget.value })}
          />
          {!isAsked && (
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={t`Remove ${name || t`parameter ${index + 1}`}`}
              onClick={() => onChange(kept(rows.filter((_, at) => at !== index)))}
            >
              <X size={16} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group gap="sm">
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...kept(rows), { name: '', value: '' }])}
        >
          {t`Add a parameter`}
        </Button>
        {rows.length > 0 && (
          <Text size="xs" c="dimmed">
            {t`Numbers, true, false and null mean themselves; quotes make a text of them.`}
          </Text>
        )}
      </Group>
    </Stack>
  );
}
