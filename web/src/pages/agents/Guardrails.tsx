/** The guardrails of an agent, with their settings. */
import { t } from '@lingui/core/macro';
import { MultiSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AgentParts, agentPartsQuery, type GuardrailUse } from '@/api/agents';
import { useProject } from '@/app/project';
import { toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import type { PartProps } from './Composer';
import classes from './agents.module.css';

type Guardrail = AgentParts['guardrails'][number];

const nameOf = (use: GuardrailUse) => (typeof use === 'string' ? use : use.use);

export function Guardrails({ draft, readOnly, set, problemAt }: PartProps) {
  const project = useProject();
  const known = useQuery(agentPartsQuery(project.id)).data?.guardrails ?? [];
  const uses = draft.guardrails ?? [];
  const names = uses.map(nameOf);
  const choices = known.map(({ name, stage }) => ({
    value: name,
    label: stage === 'input' ? t`${name} (what goes in)` : t`${name} (what comes out)`,
  }));
  const missing = names.filter((name) => !known.some((each) => each.name === name));
  const change = (next: GuardrailUse[]) =>
    set({ guardrails: next.length === 0 ? undefined : next });
  return (
    <fieldset className={classes.group}>
      <legend>{t`Guardrails`}</legend>
      <MultiSelect
        label={t`Checks`}
        description={t`An answer that does not pass goes back to the model; an input that does not pass is refused.`}
        data={[...choices, ...missing]}
        value={names}
        searchable
        readOnly={readOnly}
        error={problemAt('/guardrails')}
        onChange={(wanted) =>
          change(wanted.map((name) => uses.find((use) => nameOf(use) === name) ?? name))
        }
      />
      {uses.map((use, index) => {
        const guardrail = known.find(({ name }) => name === nameOf(use));
        if (!guardrail) return null;
        return (
          <div key={guardrail.name} className={classes.settings}>
            <Text size="sm" fw={500}>
              {guardrail.name}
            </Text>
            <Text size="xs" c="dimmed">
              {guardrail.description}
            </Text>
            {!readOnly && (
              <Settings
                guardrail={guardrail}
                use={use}
                onChange={(next) => change(uses.with(index, next))}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}

interface SettingsProps {
  guardrail: Guardrail;
  use: GuardrailUse;
  onChange: (use: GuardrailUse) => void;
}

function Settings({ guardrail, use, onChange }: SettingsProps) {
  const fields = toolFieldsOf(guardrail.settings, false);
  const { use: _name, ...given } = typeof use === 'string' ? { use } : use;
  const [values, setValues] = useState(() => toolValues(fields, given));
  const [problems, setProblems] = useState<Record<string, string>>({});
  if (fields.length === 0) return null;
  return (
    <ToolForm
      fields={fields}
      values={values}
      errors={problems}
      onChange={(next) => {
        setValues(next);
        const filled = toolArguments(fields, next);
        setProblems(filled.problems ?? {});
        if (filled.problems === null) {
          const settings = filled.arguments;
          onChange(
            Object.keys(settings).length === 0
              ? guardrail.name
              : { use: guardrail.name, ...settings },
          );
        }
      }}
    />
  );
}
