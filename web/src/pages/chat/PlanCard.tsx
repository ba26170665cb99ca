/** The plan of a turn: goal, steps with who does what and why, how far it is, and its review. */
import { plural, t } from '@lingui/core/macro';
import { Progress, SegmentedControl, Text, UnstyledButton } from '@mantine/core';
import { ChevronRight, GitBranch, Info } from 'lucide-react';
import { useState } from 'react';
import type { Turn, TurnPlan } from '@/api/chat-types';
import type { Waiting } from '@/api/run-types';
import { isFinal } from '@/api/runs';
import { Chip } from '@/components/Chip';
import type { Following } from './following';
import { ChangedBy, LeftOut } from './PlanChanges';
import { changesOf } from './plan-changes';
import { completionOf, dependingOn, MAKERS, neededFor, stepsOf } from './plan-facts';
import classes from './plan.module.css';
import { PlanEditor } from './PlanEditor';
import { PlanReview } from './PlanReview';
import type { OnStarted } from './ApplyStep';
import { StepItem } from './StepItem';

interface Props {
  turn: Turn;
  waiting: Waiting[];
  following: Following | undefined;
  isLast: boolean;
  /** The call that is to be seen. */
  shownCall: string | null;
  onStarted: OnStarted;
}

export function PlanCard({ turn, waiting, following, isLast, shownCall, onStarted }: Props) {
  const newest = turn.plans.at(-1);
  const [chosen, setChosen] = useState<number | null>(null);
  const [wanted, setWanted] = useState<boolean | null>(null);
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [wantsEdit, setWantsEdit] = useState(false);
  // Work that is under way when the page opens is shown; what is over can be opened.
  const [wasOpen] = useState(!isFinal(turn.status) || turn.status === 'failed');
  const plan = turn.plans.find(({ branch }) => branch === chosen) ?? newest;
  if (!plan || !newest) return null;
  const isReviewed = plan.review.state === 'waiting' && !isFinal(turn.status);
  const isOpen = shownCall !== null || isReviewed || (wanted ?? wasOpen);
  const steps = stepsOf(turn, plan);
  const percent = completionOf(steps);
  const body = `plan-${turn.run_id}`;
  const maker = MAKERS[plan.made_by];
  const isEdited = isReviewed && wantsEdit;
  const changes = changesOf(plan.proposed, plan.plan);
  /** What works on a step goes with it, and what it works on comes with it. */
  const skip = (id: string, isSkipped: boolean) => {
    const next = new Set(skipped);
    if (isSkipped) dependingOn(id, plan.plan.steps).forEach((each) => next.add(each));
    else neededFor(id, plan.plan.steps).forEach((each) => next.delete(each));
    setSkipped(next);
  };
  const only = (id: string) => {
    const needed = neededFor(id, plan.plan.steps);
    setSkipped(new Set(steps.map((step) => step.id).filter((other) => !needed.has(other))));
  };
  return (
    <section
      className={classes.card}
      aria-label={t`Plan: ${plan.plan.goal}`}
      data-waiting={isReviewed}
    >
      <UnstyledButton
        className={classes.head}
        aria-expanded={isOpen}
        aria-controls={isOpen ? body : undefined}
        onClick={() => setWanted(!isOpen)}
      >
        <ChevronRight size={14} aria-hidden className={classes.chevron} />
        <span className={classes.goal}>
          <Text span size="sm" fw={600}>
            {plan.plan.goal}
          </Text>
          <Text span size="xs" c="dimmed" className="tabular">
            {plural(steps.length, {
              one: `${steps.length} step · ${percent} %`,
              other: `${steps.length} steps · ${percent} %`,
            })}
          </Text>
        </span>
        <ChangedBy review={plan.review} />
        <Chip
          word={maker.word}
          icon={maker.icon}
          title={plan.model === null ? maker.title : `${maker.title} (${plan.model})`}
        />
      </UnstyledButton>
      <Progress
        value={percent}
        size={3}
        radius={0}
        color={turn.status === 'failed' ? 'red' : 'steward'}
        aria-label={t`Completion of the plan`}
      />
      {isOpen && (
        <div id={body} className={classes.body}>
          <Branches plans={turn.plans} shown={plan.branch} onShow={setChosen} />
          <PlanWords plan={plan} />
          {isEdited ? (
            <PlanEditor turn={turn} plan={plan} onClose={() => setWantsEdit(false)} />
          ) : (
            <>
              <ol className={classes.steps} aria-label={t`Steps`}>
                {steps.map((step) => (
                  <StepItem
                    key={step.id}
                    step={step}
                    planned={plan.plan.steps.find(({ id }) => id === step.id)}
                    turn={turn}
                    waiting={waiting}
                    live={following?.text[`p${plan.branch}/${step.id}`]?.text}
                    hasKeys={isLast}
                    shownCall={shownCall}
                    changes={changes}
                    {...(isFinal(turn.status) && plan === newest ? { onStarted } : {})}
                    {...(isReviewed
                      ? {
                          isSkipped: skipped.has(step.id),
                          onSkip: (on: boolean) => skip(step.id, on),
                          ...(steps.length > 1 ? { onOnly: () => only(step.id) } : {}),
                        }
                      : {})}
                  />
                ))}
              </ol>
              <LeftOut changes={changes} />
              {isReviewed && (
                <PlanReview
                  turn={turn}
                  plan={plan}
                  skipped={skipped}
                  hasKeys={isLast}
                  onEdit={() => setWantsEdit(true)}
                />
              )}
            </>
          )}
        </div>
      )}
    </section>
  );
}

interface BranchesProps {
  plans: TurnPlan[];
  shown: number;
  onShow: (branch: number) => void;
}

/** A plan that failed stays to be seen beside the one that replaced it. */
function Branches({ plans, shown, onShow }: BranchesProps) {
  if (plans.length < 2) return null;
  return (
    <div className={classes.branches}>
      <GitBranch size={14} aria-hidden />
      <Text size="xs" c="dimmed">
        {t`Planned again after a failure`}
      </Text>
      <SegmentedControl
        size="xs"
        aria-label={t`Branch of the plan`}
        value={String(shown)}
        data={plans.map(({ branch }, index) => ({
          value: String(branch),
          label: index === plans.length - 1 ? t`Plan ${branch}` : t`Plan ${branch}, given up`,
        }))}
        onChange={(value) => onShow(Number(value))}
      />
    </div>
  );
}

/** What the planner has to say about it (that there is no model is said for all turns at once), and what was wrong with what a model proposed. */
function PlanWords({ plan }: { plan: TurnPlan }) {
  const { said, problems, made_by, plan: document } = plan;
  return (
    <>
      {said !== '' && made_by !== 'rules' && (
        <Text size="xs" c="dimmed" className={classes.said}>
          <Info size={14} aria-hidden />
          <span>{said}</span>
        </Text>
      )}
      {document.notes !== '' && document.notes !== said && <Text size="sm">{document.notes}</Text>}
      {problems.length > 0 && (
        <details className={classes.problems}>
          <summary>{problemsText(plan)}</summary>
          <ul>
            {problems.map((problem, index) => (
              <li key={index}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** A model that gave no answer made no mistake in it. */
function problemsText({ problems, repaired, model }: TurnPlan): string {
  if (repaired) return t`The model needed a second try`;
  if (model === null) return t`What went wrong`;
  return plural(problems.length, {
    one: `${problems.length} mistake in what the model proposed`,
    other: `${problems.length} mistakes in what the model proposed`,
  });
}
