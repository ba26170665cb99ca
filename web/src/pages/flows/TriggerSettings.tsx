/** The settings of a trigger: when the flow starts by itself. */
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { Trash2 } from 'lucide-react';
import type { FlowPalette } from '@/api/flows';
import { removeValue, setValue, valueAt } from '@/flows/document';
import { type Schema, SettingField } from './SettingField';
import type { Studio } from './use-studio';

interface Props {
  index: number;
  types: FlowPalette['triggers'];
  studio: Studio;
  readOnly: boolean;
  onRemoved: () => void;
}

export function TriggerSettings({ index, types, studio, readOnly, onRemoved }: Props) {
  const path = ['triggers', index];
  const fields = (valueAt(studio.document, path) ?? {}) as Record<string, unknown>;
  const type = types.find((each) => each.type === fields.type);
  const settings = (type?.settings ?? {}) as Schema;
  const shown = Object.entries(settings.properties ?? {}).filter(([name]) => name !== 'type');
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {type?.title ?? 'Trigger'}
      </Title>
      <Text size="xs" c="dimmed">
        {type?.description}
      </Text>
      {shown.map(([name, schema]) => (
        <SettingField
          key={`${index}/${name}`}
          name={name}
          schema={schema}
          definitions={settings.$defs ?? {}}
          required={settings.required?.includes(name) ?? false}
          value={fields[name]}
          values={[]}
          around={fields}
          runBranch="main"
          problemAt={() => undefined}
          bare={new Set()}
          pointer={`/${name}`}
          readOnly={readOnly}
          onChange={(value) =>
            studio.change(
              {
                text:
                  value === undefined
                    ? removeValue(studio.text, [...path, name])
                    : setValue(studio.text, [...path, name], value),
              },
              `trigger:${index}/${name}`,
            )
          }
        />
      ))}
      {!readOnly && (
        <Group>
          <Button
            variant="default"
            leftSection={<Trash2 size={14} aria-hidden />}
            onClick={() => {
              studio.change({ text: removeTrigger(studio.text, studio.document, index) });
              onRemoved();
            }}
          >
            Delete
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** A list without triggers is left out. */
export function removeTrigger(text: string, document: unknown, index: number): string {
  const all = valueAt(document, ['triggers']);
  const isLast = Array.isArray(all) && all.length === 1;
  return removeValue(text, isLast ? ['triggers'] : ['triggers', index]);
}
