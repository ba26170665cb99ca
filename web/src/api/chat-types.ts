/** Names for the shapes of conversations in the HTTP API: threads, turns, plans and what a turn did. */
import type { components } from './schema';
import type {
  ApprovalAnswer,
  Artifact,
  CallPreview,
  Decision,
  Failure,
  RunStatus,
  Wait,
} from './run-types';

type Schemas = components['schemas'];

export type ThreadSettings = Schemas['ThreadSettingsOut'];
export type Thread = Schemas['ThreadOut'];
export type Rhythm = Schemas['RhythmOut'];

export interface PlanStep {
  id: string;
  title: string;
  agent: string;
  tools: string[];
  fallback_tools: string[];
  arguments: Record<string, unknown>;
  /** Arguments that are found on the way, each with the steps in whose results. */
  open?: Record<string, string[]>;
  needs: string[];
  skill: string | null;
  reason: string;
  confidence: number;
}

export interface Plan {
  goal: string;
  steps: PlanStep[];
  notes: string;
}

/** A plan of a turn; after a failure there is a second branch. */
export type TurnPlan = Omit<Schemas['TurnPlanOut'], 'plan' | 'proposed'> & {
  plan: Plan;
  /** As it was before somebody changed it. */
  proposed: Plan | null;
};
export type PlanOptions = Schemas['PlanOptionsOut'];
export type PlanTool = Schemas['PlanToolOut'];
/** A chart, table, report or file that a turn made. */
export type Exhibit = Schemas['ExhibitOut'];
export type ExhibitKind = Exhibit['kind'];
export type PlanReview = Schemas['ReviewOut'];
export type MadeBy = TurnPlan['made_by'];
/** A plan as its event tells it. */
export type Planned = Omit<TurnPlan, 'branch' | 'review' | 'proposed'> & {
  asked?: Schemas['ReadingOut'] | null;
};

type OpenInCalls = 'decision' | 'preview' | 'artifacts' | 'approvals' | 'cost' | 'error';
export type TurnCall = Omit<Schemas['TurnCallOut'], OpenInCalls> & {
  decision: Decision | null;
  preview: CallPreview | null;
  artifacts: Artifact[];
  approvals: ApprovalAnswer[];
  cost: Record<string, string | number> | null;
  error: Failure | null;
};

export type TurnStep = Omit<Schemas['TurnStepOut'], 'calls'> & { calls: TurnCall[] };
export type StepStatus = TurnStep['status'];

/** A number of the answer, and the call whose result it was taken from. */
export interface Figure {
  text: string;
  source: string | null;
}

export interface Deviation {
  kind: string;
  tool?: string | null;
  why: string;
  step?: string;
}

export interface Suggestion {
  title: string;
  message: string;
}

export type TurnCost = Schemas['TurnCostOut'];

type OpenInTurns =
  | 'status'
  | 'waits'
  | 'plans'
  | 'steps'
  | 'figures'
  | 'deviations'
  | 'suggestions'
  | 'error'
  | 'chart';
/** A message and everything that came of it; each is a run. */
export type Turn = Omit<Schemas['TurnOut'], OpenInTurns> & {
  status: RunStatus;
  /** One for a review says at greater length why somebody is asked. */
  waits: (Wait & { request?: { reason?: string } })[];
  plans: TurnPlan[];
  steps: TurnStep[];
  figures: Figure[];
  deviations: Deviation[];
  suggestions: Suggestion[];
  error: Failure | null;
  /** The chart of the rows that answer. */
  chart: { spec: Record<string, unknown>; description: string } | null;
};

/** What is asked: the message with everything that belongs to it. */
export interface Asked {
  message: string;
  thread_id: string | null;
  /** Unset: the head of the thread; null: a new first message. */
  parent?: string | null;
  mentions?: string[];
  /** Finished uploads. */
  attachments?: string[];
  /** What the message is to be read as: it is answered as it is. */
  reading?: Schemas['Reading'];
}
