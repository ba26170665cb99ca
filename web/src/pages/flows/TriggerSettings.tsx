/** The settings of a trigger: when the flow starts by itself. */
import { t } from '@lingui/core/macro';
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { Trash2 } from 'lucide-react';
import type { FlowPalette } from '@/api/flows';
import { IntervalFields, ScheduleFields } from '@/components/schedule/ScheduleFields';
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
  const isCron = fields.type === 'cron' && typeof fields.cron === 'string';
  const isInterval = fields.type === 'interval' && typeof fields.seconds === 'number';
  // Pickers ask for these.
  const picked = [
    'type',
    ...(isCron ? ['cron', 'time_zone'] : []),
    ...(isInterval ? ['seconds'] : []),
  ];
  const shown = Object.entries(settings.properties ?? {}).filter(
    ([name]) => !picked.includes(name),
  );
  const change = (text: string, field: string) =>
    studio.change({ text }, `trigger:${index}/${field}`);
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {type?.title ?? t`Trigger`}
      </Title>
      <Text size="xs" c="dimmed">
        {type?.description}
      </Text>
      {isCron && (
        <ScheduleFields
          value={{ cron: fields.cron as string, timeZone: (fields.time_zone ?? 'UTC') as string }}
          readOnly={readOnly}
          onChange={({ cron, timeZone }) =>
            change(
              setValue(
                setValue(studio.text, [...path, 'cron'], cron),
                [...path, 'time_zone'],
                timeZone,
              ),
              'cron',
            )
          }
        />
      )}
      {isInterval && (
        <IntervalFields
          seconds={fields.seconds as number}
          readOnly={readOnly}
          onChange={(seconds) =>
            change(setValue(studio.text, [...path, 'seconds'], seconds), 'seconds')
          }
        />
      )}
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
            change(
              value === undefined
                ? removeValue(studio.text, [...path, name])
                : setValue(studio.text, [...path, name], value),
              name,
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
            {t`Delete`}
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
