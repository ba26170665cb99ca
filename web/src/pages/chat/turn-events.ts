/** What the events of a stream change about a turn that is already known; the server's own account follows. */
import type {
  Deviation,
  Planned,
  StepStatus,
  Turn,
  TurnCall,
  TurnPlan,
  TurnStep,
} from '@/api/chat-types';
import type { Artifact, Failure, RunStatus, Wait } from '@/api/run-types';

export type Data = Record<string, unknown>;

/** The step that a key such as `p2/query/call/1` belongs to. */
export function stepOf(key: string): { branch: number; id: string } | null {
  const found = /^p(\d+)\/([^/]+)/.exec(key);
  return found ? { branch: Number(found[1]), id: found[2] ?? '' } : null;
}

type Change = (turn: Turn, data: Data) => Turn;

const CHANGES: Record<string, Change> = {
  status: (turn, { status, waits }) => ({
    ...turn,
    status: status as RunStatus,
    waits: (waits as Wait[] | undefined) ?? turn.waits,
  }),
  plan: withPlan,
  step: (turn, { branch, id, state }) =>
    changeStep(turn, { branch: Number(branch), id: String(id) }, (step) => ({
      ...step,
      status: state as StepStatus,
    })),
  tool_call: withCall,
  tool_result: withResult,
  deviation: (turn, data) => ({
    ...turn,
    deviations: [...turn.deviations, data as unknown as Deviation],
  }),
  result: (turn, { turn: told }) => (told ? (told as Turn) : turn),
};

/** The turn after an event; the same one where the event says nothing new about it. */
export function withEvent(turn: Turn, kind: string, data: Data): Turn {
  return CHANGES[kind]?.(turn, data) ?? turn;
}

function withPlan(turn: Turn, data: Data): Turn {
  const branch = Number(data.branch);
  const planned = data.planned as Planned;
  if (turn.plans.some((plan) => plan.branch === branch)) return turn;
  const review = { state: 'none' as const, by: null, skip: [] };
  const plan: TurnPlan = { ...planned, branch, proposed: null, review };
  const steps = planned.plan.steps.map(({ id, title, agent, tools, fallback_tools }): TurnStep => ({
    ...{ branch, id, title, agent, tools, fallback_tools },
    ...{ status: 'pending', summary: '', calls: [] },
  }));
  const reading = planned.asked ?? turn.reading;
  return { ...turn, reading, plans: [...turn.plans, plan], steps: [...turn.steps, ...steps] };
}

function changeStep(
  turn: Turn,
  where: { branch: number; id: string } | null,
  change: (step: TurnStep) => TurnStep,
): Turn {
  const isIt = (step: TurnStep) => step.branch === where?.branch && step.id === where.id;
  if (!turn.steps.some(isIt)) return turn;
  return { ...turn, steps: turn.steps.map((step) => (isIt(step) ? change(step) : step)) };
}

function withCall(turn: Turn, data: Data): Turn {
  const key = String(data.key);
  const tool = String(data.tool);
  const call: TurnCall = {
    ...{ key, tool, title: tool, risk: '', state: 'running', arguments: data.arguments },
    ...{ decision: null, preview: null, summary: '', value: null, artifacts: [], commits: [] },
    ...{ approvals: [], cost: null, error: null, undone: false },
  };
  return changeStep(turn, stepOf(key), (step) =>
    step.calls.some((known) => known.key === key)
      ? step
      : { ...step, status: 'running', calls: [...step.calls, call] },
  );
}

function withResult(turn: Turn, data: Data): Turn {
  const key = String(data.key);
  const error = (data.error as Failure | undefined) ?? null;
  const done = (call: TurnCall): TurnCall => ({
    ...call,
    error,
    state: error ? 'failed' : 'done',
    summary: (data.summary as string | undefined) ?? call.summary,
    artifacts: (data.artifacts as Artifact[] | undefined) ?? call.artifacts,
  });
  return changeStep(turn, stepOf(key), (step) => ({
    ...step,
    calls: step.calls.map((call) => (call.key === key ? done(call) : call)),
  }));
}
