/** What a step is given only once others have found it: which arguments, and in whose results they are looked for. */
import { t } from '@lingui/core/macro';
import { ActionIcon, MultiSelect, Select, Text, Tooltip } from '@mantine/core';
import { X } from 'lucide-react';
import { useId } from 'react';
import type { PlanTool } from '@/api/chat-types';
import { toolFieldsOf } from '@/components/tool-form';
import { type DraftStep, withFoundIn, withOpen, withoutOpen } from './plan-draft';
import classes from './plan-editor.module.css';

interface Props {
  step: DraftStep;
  tool: PlanTool;
  /** Steps in whose results something can be found. */
  places: { value: string; label: string }[];
  problems: Record<string, string>;
  onChange: (step: DraftStep) => void;
}

export function OpenArguments({ step, tool, places, problems, onChange }: Props) {
  const adding = useId();
  const fields = toolFieldsOf(tool.arguments, true).map(({ field }) => field);
  const labelOf = (name: string) => fields.find((field) => field.name === name)?.label ?? name;
  const open = Object.entries(step.open ?? {});
  const free = fields.filter(({ name }) => !(name in (step.open ?? {})));
  if (fields.length === 0) return null;
  const remove = (name: string) => {
    onChange(withoutOpen(step, name));
    requestAnimationFrame(() => document.getElementById(adding)?.focus());
  };
  return (
    <div className={classes.arguments} role="group" aria-label={t`Found on the way`}>
      <Text size="xs" fw={600} c="dimmed">
        {t`Found on the way`}
      </Text>
      {open.map(([name, sources]) => (
        <div key={name} className={classes.open}>
          <MultiSelect
            label={t`${labelOf(name)} is found in`}
            data={withUnknown(places, sources)}
            value={sources}
            placeholder={sources.length > 0 ? '' : anywhere(step)}
            error={problems[name]}
            onChange={(next) => onChange(withFoundIn(step, name, next))}
          />
          <Tooltip label={t`Not found on the way`}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Not found on the way: ${labelOf(name)}`}
              onClick={() => remove(name)}
            >
              <X size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </div>
      ))}
      <Select
        id={adding}
        label={t`Leave open`}
        description={t`What Steward may pass to the tool. It leaves recipients, places and amounts empty unless you fill them in here or mentioned them in your request.`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data={free.map(({ name, label }) => ({ value: name, label }))}
        // Choosing one opens it; nothing stays chosen.
        value={null}
        searchable
        placeholder={free.length > 0 ? t`Choose what is found later` : t`Everything is open`}
        disabled={free.length === 0}
        onChange={(name) => name !== null && onChange(withOpen(step, name))}
      />
    </div>
  );
}

function anywhere({ needs }: DraftStep): string {
  return needs.length > 0 ? t`Any step that it works on` : t`What the agent finds in this step`;
}

/** Steps that are named although they are no earlier ones any more can still be taken out. */
function withUnknown(places: Props['places'], sources: string[]): Props['places'] {
  const lost = sources.filter((id) => !places.some(({ value }) => value === id));
  return [...places, ...lost.map((id) => ({ value: id, label: t`${id} (not before this step)` }))];
}
