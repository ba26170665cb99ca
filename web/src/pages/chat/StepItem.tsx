/** One step of a plan: who does it with which tools and why, how it stands, and its calls. */
import { t } from '@lingui/core/macro';
import { Button, Switch, Text } from '@mantine/core';
import { Undo2 } from 'lucide-react';
import type { PlanStep, Turn, TurnStep } from '@/api/chat-types';
import type { Waiting } from '@/api/run-types';
import { StateChip } from '@/components/Chip';
import { JsonTree } from '@/components/JsonTree';
import { ApplyStep, type OnStarted } from './ApplyStep';
import { CallCard } from './CallCard';
import type { PlanChanges } from './plan-changes';
import { foundIn } from './plan-facts';
import classes from './plan.module.css';
import { StepChanges } from './PlanChanges';
import { useRollback } from './use-rollback';

interface Props {
  step: TurnStep;
  planned: PlanStep | undefined;
  turn: Turn;
  waiting: Waiting[];
  /** What its agent says just now. */
  live: string | undefined;
  hasKeys: boolean;
  shownCall: string | null;
  /** Only while the plan is reviewed. */
  isSkipped?: boolean;
  onSkip?: (isSkipped: boolean) => void;
  /** Leaves out everything else that it does not need. */
  onOnly?: () => void;
  changes: PlanChanges;
  /** Only once the turn is over: a step that was not done can be done after all. */
  onStarted?: OnStarted;
}

export function StepItem(props: Props) {
  const { step, planned, turn, waiting, live, hasKeys, shownCall, changes } = props;
  const { isSkipped, onSkip, onOnly, onStarted } = props;
  // Waits have entries of their own, which are shown with the call that waits.
  const calls = step.calls.filter(({ tool }) => tool !== null);
  const state = step.status === 'rolled_back' ? 'undone' : step.status;
  return (
    <li className={classes.step} data-skipped={isSkipped ?? false}>
      <div className={classes.line}>
        <StateChip state={state} />
        <span className={classes.what}>
          <Text span size="sm" fw={500}>
            {step.title}
          </Text>
          {step.summary !== '' && (
            <Text span size="xs" c="dimmed">
              {step.summary}
            </Text>
          )}
        </span>
        {onOnly && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={t`Only this step: ${step.title}`}
            onClick={onOnly}
          >
            {t`Only this`}
          </Button>
        )}
        {onSkip && (
          <Switch
            size="xs"
            label={t`Do it`}
            aria-label={t`Do it: ${step.title}`}
            checked={isSkipped !== true}
            onChange={({ currentTarget }) => onSkip(!currentTarget.checked)}
          />
        )}
        <RollBack step={step} turn={turn} />
        {onStarted && <ApplyStep step={step} turn={turn} onStarted={onStarted} />}
      </div>
      <StepFacts step={step} planned={planned} />
      <StepChanges id={step.id} changes={changes} />
      {live !== undefined && step.status === 'running' && (
        <Text size="sm" c="dimmed" className={classes.live}>
          {live}
        </Text>
      )}
      {calls.length > 0 && (
        <div className={classes.calls}>
          {calls.map((call) => (
            <CallCard
              key={call.key}
              call={call}
              turn={turn}
              waiting={waiting}
              hasKeys={hasKeys}
              isShown={call.key === shownCall}
            />
          ))}
        </div>
      )}
    </li>
  );
}

function StepFacts({ step, planned }: { step: TurnStep; planned: PlanStep | undefined }) {
  const known = Object.keys(planned?.arguments ?? {}).length > 0;
  return (
    <div className={classes.facts}>
      <span>{step.agent}</span>
      {step.tools.map((tool) => (
        <code key={tool}>{tool}</code>
      ))}
      {step.fallback_tools.length > 0 && (
        <span title={t`Used only when the planned tools fail`}>
          {t`else ${step.fallback_tools.join(', ')}`}
        </span>
      )}
      {planned?.skill != null && <span>{t`skill ${planned.skill}`}</span>}
      {planned && planned.needs.length > 0 && <span>{t`after ${planned.needs.join(', ')}`}</span>}
      {planned?.open && Object.keys(planned.open).length > 0 && (
        <span title={t`Found on the way; what else the tool could be given stays empty`}>
          {t`finds ${foundIn(planned.open)}`}
        </span>
      )}
      {planned && (planned.reason !== '' || known) && (
        <details className={classes.why}>
          <summary>{t`Why`}</summary>
          {planned.reason !== '' && <p>{planned.reason}</p>}
          {known && <JsonTree label={t`Arguments known so far`} value={planned.arguments} />}
        </details>
      )}
    </div>
  );
}

/** Takes back what the step changed, or does it again. */
function RollBack({ step, turn }: { step: TurnStep; turn: Turn }) {
  const changed = step.calls.filter(({ commits, state }) => commits.length > 0 && state === 'done');
  const prefix = `p${step.branch}/${step.id}/`;
  const rollback = useRollback(turn, (key) => key.startsWith(prefix));
  if (changed.length === 0 || !rollback.mayTurn) return null;
  const isUndone = changed.every(({ undone }) => undone);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Undo2 size={12} aria-hidden />}
        loading={rollback.isPending}
        onClick={() => void (isUndone ? rollback.redo(step.title) : rollback.undo(step.title))}
      >
        {isUndone ? t`Do again` : t`Roll back`}
      </Button>
      {rollback.dialog}
    </>
  );
}
