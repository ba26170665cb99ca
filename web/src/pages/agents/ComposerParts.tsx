/** Parts of the composer: texts and model, schemas, who goes on, what it may use. */
import { t } from '@lingui/core/macro';
import { MultiSelect, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agentPartsQuery, agentsQuery } from '@/api/agents';
import { useProject } from '@/app/project';
import code from '@/components/CodeField.module.css';
import type { PartProps } from './Composer';
import classes from './agents.module.css';

const ROLES: Record<string, string> = {
  operator: t`Operator: works with tools`,
  explainer: t`Explainer: writes for people`,
  planner: t`Planner: thinks longer`,
};

export function About({ draft, readOnly, set, problemAt }: PartProps) {
  const project = useProject();
  const parts = useQuery(agentPartsQuery(project.id)).data;
  const role = draft.role ?? 'operator';
  const ofRole = parts?.roles[role as 'operator'] ?? [];
  const models = [...new Set([...(parts?.models ?? []), ...(draft.model ? [draft.model] : [])])];
  return (
    <fieldset className={classes.group}>
      <legend>{t`What it does`}</legend>
      <div className={classes.pair}>
        <TextInput
          label={t`Title`}
          value={draft.title}
          readOnly={readOnly}
          error={problemAt('/title')}
          onChange={({ currentTarget }) => set({ title: currentTarget.value })}
        />
        <TextInput
          label={t`When to choose it`}
          value={draft.description}
          readOnly={readOnly}
          maxLength={500}
          error={problemAt('/description')}
          onChange={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      </div>
      <Textarea
        label={t`Instructions`}
        description={t`What it should do, how, and what its answer looks like.`}
        value={draft.instructions}
        readOnly={readOnly}
        autosize
        minRows={6}
        maxRows={24}
        error={problemAt('/instructions')}
        onChange={({ currentTarget }) => set({ instructions: currentTarget.value })}
      />
      <div className={classes.pair}>
        <Select
          label={t`Role`}
          description={
            ofRole.length > 0 ? t`Asks ${ofRole.join(t`, then `)}` : t`No model is set up for it.`
          }
          data={Object.entries(ROLES).map(([value, label]) => ({ value, label }))}
          value={role}
          allowDeselect={false}
          readOnly={readOnly}
          onChange={(value) =>
            set({ role: value === 'operator' ? undefined : (value ?? undefined) })
          }
        />
        <Select
          label={t`A certain model`}
          description={t`Instead of the models of the role.`}
          data={models}
          value={draft.model ?? null}
          placeholder={t`Those of the role`}
          clearable
          searchable
          readOnly={readOnly}
          error={problemAt('/model')}
          onChange={(value) => set({ model: value ?? undefined })}
        />
      </div>
    </fieldset>
  );
}

interface SchemaProps extends PartProps {
  onUnreadable: (pointer: string, why: string | null) => void;
}

export function Schemas(props: SchemaProps) {
  return (
    <fieldset className={classes.group}>
      <legend>{t`Input and output`}</legend>
      <div className={classes.pair}>
        <SchemaText
          {...props}
          field="input"
          label={t`Input schema`}
          description={t`JSON Schema of the data it takes. Other data is refused before a model is asked.`}
        />
        <SchemaText
          {...props}
          field="output"
          label={t`Output schema`}
          description={t`JSON Schema of its answer. An answer that does not fit goes back to the model.`}
        />
      </div>
    </fieldset>
  );
}

interface TextProps extends SchemaProps {
  field: 'input' | 'output';
  label: string;
  description: string;
}

function SchemaText(props: TextProps) {
  const { draft, field, label, description, readOnly, set, problemAt, onUnreadable } = props;
  const known = draft[field];
  const [text, setText] = useState(
    known === undefined || known === null ? '' : JSON.stringify(known, null, 2),
  );
  const change = (next: string) => {
    setText(next);
    try {
      const value: unknown = next.trim() === '' ? undefined : JSON.parse(next);
      onUnreadable(`/${field}`, null);
      set({ [field]: value });
    } catch (error) {
      onUnreadable(`/${field}`, t`This is not JSON yet: ${(error as Error).message}`);
    }
  };
  return (
    <Textarea
      label={label}
      description={description}
      placeholder={t`Anything`}
      value={text}
      readOnly={readOnly}
      autosize
      minRows={4}
      maxRows={18}
      spellCheck={false}
      classNames={{ input: code.code ?? '' }}
      error={problemAt(`/${field}`)}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}

const HOW = [
  { value: 'none', label: t`No one: its answer is the result` },
  { value: 'sequence', label: t`These, one after the other` },
  { value: 'parallel', label: t`These, at the same time` },
  { value: 'choice', label: t`The one it chooses, or no one` },
];
const GIVE = [
  { value: 'answer', label: t`Its answer` },
  { value: 'task', label: t`The task and its answer` },
  { value: 'everything', label: t`The task, its data and its answer` },
];

export function HandingOver({ draft, readOnly, set, problemAt }: PartProps) {
  const project = useProject();
  const agents = useQuery(agentsQuery(project.id)).data ?? [];
  const { handoffs } = draft;
  const others = agents
    .filter(({ name }) => name !== draft.name)
    .map(({ name, title }) => ({ value: name, label: title }));
  const how = handoffs?.how ?? 'none';
  return (
    <fieldset className={classes.group}>
      <legend>{t`Handing over`}</legend>
      <div className={classes.pair}>
        <Select
          label={t`Who goes on`}
          data={HOW}
          value={how}
          allowDeselect={false}
          readOnly={readOnly}
          error={handoffs?.to.length === 0 ? t`Choose who goes on.` : undefined}
          onChange={(value) =>
            set({
              handoffs:
                value === null || value === 'none'
                  ? undefined
                  : { ...handoffs, how: value, to: handoffs?.to ?? [] },
            })
          }
        />
        {handoffs && (
          <Select
            label={t`What they get`}
            data={GIVE}
            value={handoffs.give ?? 'task'}
            allowDeselect={false}
            readOnly={readOnly}
            onChange={(value) => set({ handoffs: { ...handoffs, give: value ?? 'task' } })}
          />
        )}
      </div>
      {handoffs && (
        <MultiSelect
          label={t`Agents`}
          description={how === 'sequence' ? t`In this order.` : undefined}
          data={others}
          value={handoffs.to}
          searchable
          maxValues={8}
          readOnly={readOnly}
          error={problemAt('/handoffs')}
          onChange={(to) => set({ handoffs: { ...handoffs, to } })}
        />
      )}
    </fieldset>
  );
}

export function Bounds({ draft, readOnly, set, problemAt }: PartProps) {
  const budget = draft.budget ?? {};
  const change = (changes: NonNullable<typeof draft.budget>) => {
    const all = Object.entries({ ...budget, ...changes });
    const left = all.filter(([, value]) => value !== null);
    set({ budget: left.length === 0 ? undefined : Object.fromEntries(left) });
  };
  const numberOf = (value: string | number) => (value === '' ? null : Number(value));
  const field = (value: unknown) =>
    value === null || value === undefined || value === '' ? '' : Number(value);
  return (
    <fieldset className={classes.group}>
      <legend>{t`Budget for one task`}</legend>
      <div className={classes.pair}>
        <NumberInput
          label={t`Calls of tools`}
          // As the server has it: a budget without this number allows 8, and a step without a budget 30.
          placeholder={draft.budget ? '8' : '30'}
          min={1}
          max={50}
          allowDecimal={false}
          value={field(budget.calls)}
          readOnly={readOnly}
          error={problemAt('/budget/calls')}
          onChange={(value) => change({ calls: numberOf(value) ?? undefined })}
        />
        <NumberInput
          label={t`Tokens`}
          placeholder={t`No limit of its own`}
          min={1}
          allowDecimal={false}
          thousandSeparator=" "
          value={field(budget.tokens)}
          readOnly={readOnly}
          error={problemAt('/budget/tokens')}
          onChange={(value) => change({ tokens: numberOf(value) })}
        />
        <NumberInput
          label={t`US dollars`}
          placeholder={t`No limit of its own`}
          min={0}
          decimalScale={4}
          value={field(budget.usd)}
          readOnly={readOnly}
          error={problemAt('/budget/usd')}
          onChange={(value) => change({ usd: numberOf(value) })}
        />
      </div>
    </fieldset>
  );
}
