/** One step of a plan as a form: what is done, by whom, with which tool, what the tool is given, and after what. */
import { t } from '@lingui/core/macro';
import {
  ActionIcon,
  Alert,
  MultiSelect,
  Select,
  Text,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import type { PlanOptions, PlanTool } from '@/api/chat-types';
import { RiskChip } from '@/components/RiskChip';
import type { FormValues } from '@/components/schema-form';
import { toolFieldsOf, toolValues } from '@/components/tool-form';
import { ToolForm } from '@/components/ToolForm';
import { OpenArguments } from './OpenArguments';
import {
  argumentsIn,
  type DraftStep,
  type StepProblems,
  withArguments,
  withTool,
} from './plan-draft';
import classes from './plan-editor.module.css';

interface Props {
  step: DraftStep;
  number: number;
  count: number;
  /** Steps whose results it may work on. */
  earlier: DraftStep[];
  options: PlanOptions;
  problems: StepProblems | undefined;
  onChange: (step: DraftStep) => void;
  /** Whether it holds text that is no JSON yet. */
  onUnreadable: (isUnreadable: boolean) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

export const moverId = (uid: string, by: -1 | 1) => `move-${uid}-${by === -1 ? 'up' : 'down'}`;

const titled = ({ name, title }: { name: string; title: string }) => ({
  value: name,
  label: title === '' ? name : title,
});

export function StepEditor(props: Props) {
  const { step, number, earlier, options, problems, onChange, onUnreadable, onMove } = props;
  const tool = options.tools.find(({ name }) => name === step.tools[0]);
  const fields = problems?.fields ?? {};
  const agent = options.agents.find(({ name }) => name === step.agent);
  const others = options.tools.filter(
    ({ name }) => name !== tool?.name && (agent?.tools.includes(name) ?? false),
  );
  const name = step.title === '' ? t`new step` : step.title;
  const onKeys = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    onMove(event.key === 'ArrowUp' ? -1 : 1);
  };
  return (
    <fieldset className={classes.step} aria-label={t`Step ${number}: ${name}`}>
      <StepHead {...props} name={name} onKeys={onKeys} />
      {problems && problems.others.length > 0 && (
        <Alert role="alert" color="red" variant="light">
          {problems.others.join(' ')}
        </Alert>
      )}
      <TextInput
        label={t`What is done`}
        value={step.title}
        maxLength={200}
        withAsterisk
        error={fields.title}
        onChange={({ currentTarget }) => onChange({ ...step, title: currentTarget.value })}
      />
      <Textarea
        label={t`Why`}
        value={step.reason}
        maxLength={1000}
        autosize
        minRows={1}
        maxRows={5}
        error={fields.reason}
        onChange={({ currentTarget }) => onChange({ ...step, reason: currentTarget.value })}
      />
      <div className={classes.pair}>
        <Select
          label={t`Tool`}
          data={options.tools.map(titled)}
          value={tool?.name ?? null}
          searchable
          allowDeselect={false}
          placeholder={t`Choose a tool`}
          description={tool?.description}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          error={fields.tools}
          onChange={(next) => next !== null && onChange(withTool(step, next, options))}
        />
        <Select
          label={t`Agent`}
          data={options.agents
            .filter(({ tools }) => !tool || tools.includes(tool.name))
            .map(titled)}
          value={step.agent}
          allowDeselect={false}
          description={agent?.description}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          error={fields.agent}
          onChange={(next) => next !== null && onChange({ ...step, agent: next })}
        />
      </div>
      {tool && (
        <ToolArguments
          // Another tool has other arguments, and what is found on the way is not given.
          key={[tool.name, ...Object.keys(step.open ?? {})].join()}
          tool={tool}
          given={step.arguments}
          open={step.open ?? {}}
          problems={problems?.arguments ?? {}}
          onChange={(next) => onChange(withArguments(step, next))}
          onUnreadable={onUnreadable}
        />
      )}
      {tool && (
        <OpenArguments
          step={step}
          tool={tool}
          places={titledSteps(earlier)}
          problems={problems?.open ?? {}}
          onChange={(next) => {
            onUnreadable(false);
            onChange(next);
          }}
        />
      )}
      <div className={classes.pair}>
        <MultiSelect
          label={t`If the tool fails`}
          data={others.map(titled)}
          value={step.fallback_tools}
          searchable
          placeholder={step.fallback_tools.length === 0 ? t`Nothing else is tried` : ''}
          error={fields.fallback_tools}
          onChange={(next) => onChange({ ...step, fallback_tools: next })}
        />
        <MultiSelect
          label={t`Works on the result of`}
          data={needable(step, earlier)}
          value={step.needs}
          placeholder={step.needs.length === 0 ? t`No other step` : ''}
          disabled={earlier.length === 0 && step.needs.length === 0}
          error={fields.needs}
          onChange={(next) => onChange({ ...step, needs: next })}
        />
      </div>
    </fieldset>
  );
}

interface HeadProps extends Props {
  name: string;
  onKeys: (event: KeyboardEvent) => void;
}

function StepHead({ step, number, count, name, onMove, onRemove, onKeys }: HeadProps) {
  return (
    <div className={classes.head}>
      <Text size="xs" fw={600} c="dimmed" flex={1}>
        {t`Step ${number}`}
      </Text>
      <Act
        id={moverId(step.uid, -1)}
        label={t`Move up: ${name}`}
        hint={t`Move up (Alt ↑)`}
        isOff={number === 1}
        onKeys={onKeys}
        onClick={() => onMove(-1)}
      >
        <ArrowUp size={14} aria-hidden />
      </Act>
      <Act
        id={moverId(step.uid, 1)}
        label={t`Move down: ${name}`}
        hint={t`Move down (Alt ↓)`}
        isOff={number === count}
        onKeys={onKeys}
        onClick={() => onMove(1)}
      >
        <ArrowDown size={14} aria-hidden />
      </Act>
      <Act label={t`Remove: ${name}`} hint={t`Remove`} onKeys={onKeys} onClick={onRemove}>
        <Trash2 size={14} aria-hidden />
      </Act>
    </div>
  );
}

interface ActProps {
  id?: string;
  label: string;
  hint: string;
  isOff?: boolean;
  onKeys: (event: KeyboardEvent) => void;
  onClick: () => void;
  children: React.ReactNode;
}

/** One that cannot be used just now still can be reached, so that keys go on working where they are. */
function Act({ id, label, hint, isOff = false, onKeys, onClick, children }: ActProps) {
  return (
    <Tooltip label={hint}>
      <ActionIcon
        {...(id === undefined ? {} : { id })}
        variant="subtle"
        color="gray"
        aria-label={label}
        aria-disabled={isOff}
        data-disabled={isOff || undefined}
        onKeyDown={onKeys}
        onClick={() => !isOff && onClick()}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function titledSteps(steps: DraftStep[]) {
  return steps.map(({ id, title }) => ({ value: id, label: title === '' ? id : title }));
}

/** Earlier steps, and those that it names already although they come later. */
function needable(step: DraftStep, earlier: DraftStep[]) {
  const known = titledSteps(earlier);
  const lost = step.needs.filter((id) => !known.some(({ value }) => value === id));
  return [...known, ...lost.map((id) => ({ value: id, label: t`${id} (comes later)` }))];
}

interface ArgumentsProps {
  tool: PlanTool;
  given: Record<string, unknown>;
  /** What is found on the way. */
  open: Record<string, string[]>;
  problems: Record<string, string>;
  onChange: (given: Record<string, unknown>) => void;
  onUnreadable: (isUnreadable: boolean) => void;
}

/** What is left empty is decided by the agent, or by the tool itself. */
function ToolArguments(props: ArgumentsProps) {
  const { tool, given, open, problems, onChange, onUnreadable } = props;
  const fields = toolFieldsOf(tool.arguments, true).filter(({ field }) => !(field.name in open));
  const [first] = useState(given);
  const [values, setValues] = useState<FormValues>(() => toolValues(fields, given));
  const [unreadable, setUnreadable] = useState<Record<string, string>>({});
  // Arguments of an operation are a form in the form, which has no place for what is wrong with them.
  const hidden = tool.name === 'clean' ? problems.arguments : undefined;
  if (fields.length === 0) return null;
  const change = (next: FormValues) => {
    const found = argumentsIn(fields, next, first);
    setValues(next);
    setUnreadable(found.problems);
    onUnreadable(Object.keys(found.problems).length > 0);
    if (Object.keys(found.problems).length === 0) onChange(found.arguments);
  };
  return (
    <div className={classes.arguments} role="group" aria-label={t`What ${tool.title} is given`}>
      <div className={classes.head}>
        <Text size="xs" fw={600} c="dimmed" flex={1}>
          {t`${tool.title} is given`}
        </Text>
        <RiskChip risk={tool.risk} />
      </div>
      {hidden !== undefined && (
        <Alert role="alert" color="red" variant="light">
          {hidden}
        </Alert>
      )}
      <ToolForm
        tool={tool.name}
        fields={fields}
        values={values}
        errors={{ ...problems, ...unreadable }}
        onChange={change}
      />
    </div>
  );
}
