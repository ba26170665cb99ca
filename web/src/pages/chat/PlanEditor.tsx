/** Changes a plan before it runs: its steps, who does them with which tools, and what those are given. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Skeleton, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, Plus, TriangleAlert } from 'lucide-react';
import { useRef, useState } from 'react';
import type { PlanOptions, Turn, TurnPlan } from '@/api/chat-types';
import { ApiError, type FieldError } from '@/api/errors';
import { planOptionsQuery, reviewPlan, turnsKey } from '@/api/threads';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { useAnswered } from '@/components/waiting/answering';
import {
  draftOf,
  type DraftStep,
  isChanged,
  MOST_STEPS,
  moved,
  planOf,
  problemsAt,
  problemsIn,
  without,
  withNew,
} from './plan-draft';
import classes from './plan-editor.module.css';
import { moverId, StepEditor } from './StepEditor';

interface Props {
  turn: Turn;
  plan: TurnPlan;
  onClose: () => void;
}

export function PlanEditor({ turn, plan, onClose }: Props) {
  const project = useProject();
  const options = useQuery(planOptionsQuery(project.id, turn.thread_id, turn.run_id));
  if (options.isError) {
    return <ErrorState error={options.error} retry={() => void options.refetch()} />;
  }
  if (!options.data) return <Skeleton height={160} aria-busy />;
  return <Editor turn={turn} plan={plan} options={options.data} onClose={onClose} />;
}

function Editor({ turn, plan, options, onClose }: Props & { options: PlanOptions }) {
  const [draft, setDraft] = useState(() => draftOf(plan.plan));
  const [found, setFound] = useState<FieldError[]>([]);
  // Text that is not JSON yet cannot be sent; it is known by the step that holds it.
  const [unreadable, setUnreadable] = useState<ReadonlySet<string>>(new Set());
  const { save, isPending, error } = useSave(turn, onClose);
  const place = useRef<HTMLFormElement>(null);
  const { steps } = draft;
  const problems = problemsAt(found);
  const setSteps = (next: DraftStep[]) => {
    // What was said about places holds no longer once they move.
    if (next.length !== steps.length) setFound([]);
    setDraft({ ...draft, steps: next });
  };
  const move = (index: number, by: -1 | 1) => {
    const step = steps[index];
    setSteps(moved(steps, index, by));
    setFound([]);
    requestAnimationFrame(() => document.getElementById(moverId(step?.uid ?? '', by))?.focus());
  };
  const add = () => {
    const next = withNew(steps, options);
    setSteps(next);
    requestAnimationFrame(() => focusIn(place.current, '[data-step]:last-of-type input'));
  };
  const submit = async () => {
    let wrong = problemsIn(draft);
    if (wrong.length === 0) wrong = await save(planOf(draft, plan.plan));
    setFound(wrong);
    if (wrong.length > 0) requestAnimationFrame(() => showFirst(place.current));
  };
  return (
    <form
      ref={place}
      className={classes.editor}
      aria-label={t`Edit the plan`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextInput
        label={t`Goal`}
        value={draft.goal}
        maxLength={2000}
        error={draft.goal.trim() === '' && problems.others[0]}
        onChange={({ currentTarget }) => setDraft({ ...draft, goal: currentTarget.value })}
      />
      <ol className={classes.steps} aria-label={t`Steps to edit`}>
        {steps.map((step, index) => (
          <li key={step.uid} data-step>
            <StepEditor
              step={step}
              number={index + 1}
              count={steps.length}
              earlier={steps.slice(0, index)}
              options={options}
              problems={problems.steps[index]}
              onChange={(next) => setSteps(steps.with(index, next))}
              onUnreadable={(is) => setUnreadable(withOrWithout(unreadable, step.uid, is))}
              onMove={(by) => move(index, by)}
              onRemove={() => {
                setUnreadable(withOrWithout(unreadable, step.uid, false));
                setSteps(without(steps, index));
              }}
            />
          </li>
        ))}
      </ol>
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          disabled={steps.length >= MOST_STEPS}
          onClick={add}
        >
          {t`Add a step`}
        </Button>
      </div>
      <PlanWide problems={problems.others} />
      <FormError error={error} />
      <div className={classes.buttons}>
        <Button
          type="submit"
          leftSection={<Check size={14} aria-hidden />}
          loading={isPending}
          disabled={!isChanged(draft, plan.plan) || unreadable.size > 0}
        >
          {t`Approve the changed plan`}
        </Button>
        <Button variant="default" disabled={isPending} onClick={onClose}>
          {t`Leave it as it was`}
        </Button>
      </div>
      <Text size="xs" c="dimmed">
        {t`What you change is checked, and shown beside what was planned.`}
      </Text>
    </form>
  );
}

function PlanWide({ problems }: { problems: string[] }) {
  if (problems.length === 0) return null;
  return (
    <Alert role="alert" color="red" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {problems.join(' ')}
    </Alert>
  );
}

function useSave({ thread_id: threadId, run_id: runId }: Turn, onClose: () => void) {
  const project = useProject();
  const client = useQueryClient();
  const { send, isPending, error } = useAnswered();
  /** What is wrong with it, by place. */
  const save = async (plan: object): Promise<FieldError[]> => {
    let refused: FieldError[] = [];
    const body = { decision: 'change' as const, skip: [] as [], plan: { ...plan } };
    const answer = async () => {
      try {
        await reviewPlan(project.id, threadId, runId, body);
      } catch (error) {
        if (error instanceof ApiError) refused = error.fields;
        throw error;
      }
    };
    await send(answer, () => {
      showDone(t`The changed plan runs`);
      onClose();
      void client.invalidateQueries({ queryKey: turnsKey(project.id, threadId) });
    });
    return refused;
  };
  return { save, isPending, error };
}

function withOrWithout(all: ReadonlySet<string>, one: string, isIn: boolean): ReadonlySet<string> {
  if (all.has(one) === isIn) return all;
  const next = new Set(all);
  if (isIn) next.add(one);
  else next.delete(one);
  return next;
}

/** What is wrong comes into view, and takes the focus where it can be mended at once. */
function showFirst(place: HTMLElement | null): void {
  const first = place?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
  first?.scrollIntoView({ block: 'center' });
  first?.focus();
}

function focusIn(place: HTMLElement | null, selector: string): void {
  place?.querySelector<HTMLElement>(selector)?.focus();
}
