/** The composer's part about memory: whether an agent keeps notes between runs, how many, and who shares them. */
import { t } from '@lingui/core/macro';
import { NumberInput, Select, Switch, Text } from '@mantine/core';
import { KEPT } from './AgentNotes';
import type { PartProps } from './Composer';
import classes from './agents.module.css';

const PER = [
  { value: 'project', label: t`All runs in the project` },
  { value: 'person', label: t`Each person’s runs separately` },
];

export function Remembering({ draft, readOnly, set, problemAt }: PartProps) {
  const memory = draft.memory ?? null;
  return (
    <fieldset className={classes.group}>
      <legend>{t`Memory`}</legend>
      <Switch
        label={t`Remember between runs`}
        checked={memory !== null}
        disabled={readOnly}
        onChange={({ currentTarget }) => set({ memory: currentTarget.checked ? {} : undefined })}
      />
      <Text size="xs" c="dimmed">
        {t`The agent keeps short notes and reads them at the start of later runs. It treats notes as data, never as instructions.`}
      </Text>
      {memory && (
        <div className={classes.pair}>
          <NumberInput
            label={t`Notes at most`}
            description={t`From 1 to 50. When the memory is full, the agent must delete a note first.`}
            placeholder={String(KEPT)}
            min={1}
            max={50}
            allowDecimal={false}
            value={memory.keep ?? ''}
            readOnly={readOnly}
            error={problemAt('/memory/keep')}
            onChange={(value) =>
              set({ memory: { ...memory, keep: value === '' ? undefined : Number(value) } })
            }
          />
          <Select
            label={t`Who shares the notes`}
            description={t`Steward shows a person’s own notes to no one else.`}
            data={PER}
            value={memory.per ?? 'project'}
            allowDeselect={false}
            readOnly={readOnly}
            error={problemAt('/memory/per')}
            onChange={(value) =>
              set({ memory: { ...memory, per: value === 'person' ? 'person' : undefined } })
            }
          />
        </div>
      )}
    </fieldset>
  );
}
