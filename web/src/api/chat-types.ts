/** Names for the shapes of conversations in the HTTP API: threads, turns, plans and what a turn did. */
import type { Artifact, CallPreview, Decision, Failure, RunStatus, Wait } from './run-types';

export interface ThreadSettings {
  /** `schema-only` sends no row of any dataset to a model. */
  rows: 'all' | 'schema-only';
  /** When a person looks at a plan before it runs. */
  review: 'changes' | 'always' | 'never';
}

export interface Thread {
  id: string;
  title: string;
  branch: string;
  settings: ThreadSettings;
  /** The turn that the next message follows. */
  head: string | null;
  turns: number;
  created_by: string;
  created_at: string;
  updated_at: string;
  revision: number;
}

export interface PlanStep {
  id: string;
  title: string;
  agent: string;
  tools: string[];
  fallback_tools: string[];
  arguments: Record<string, unknown>;
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

export type MadeBy = 'model' | 'rules' | 'fallback' | 'person';

export interface Planned {
  plan: Plan;
  made_by: MadeBy;
  model: string | null;
  problems: string[];
  repaired: boolean;
  said: string;
}

export interface PlanReview {
  state: 'none' | 'waiting' | 'approved' | 'rejected' | 'changed';
  by: string | null;
  skip: string[];
}

/** A plan of a turn; after a failure there is a second branch. */
export interface TurnPlan extends Planned {
  branch: number;
  review: PlanReview;
}

export interface TurnCall {
  key: string;
  tool: string | null;
  title: string;
  risk: string | null;
  state: string;
  arguments: unknown;
  decision: Decision | null;
  preview: CallPreview | null;
  summary: string;
  value: unknown;
  artifacts: Artifact[];
  commits: string[];
  cost: Record<string, string | number> | null;
  error: Failure | null;
  undone: boolean;
}

export type StepStatus =
  'pending' | 'running' | 'waiting' | 'done' | 'failed' | 'skipped' | 'rolled_back';

export interface TurnStep {
  branch: number;
  id: string;
  title: string;
  agent: string;
  tools: string[];
  fallback_tools: string[];
  status: StepStatus;
  summary: string;
  calls: TurnCall[];
}

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

export interface TurnCost {
  usd: string | null;
  tokens: number;
  seconds: number | null;
}

export interface TurnAttachment {
  upload: string;
  name: string;
  size: number;
}

/** A message and everything that came of it; each is a run. */
export interface Turn {
  run_id: string;
  thread_id: string;
  parent: string | null;
  /** Turns with the same parent, oldest first, itself included. */
  siblings: string[];
  message: string;
  mentions: string[];
  attachments: TurnAttachment[];
  query_type: 'sql' | 'plan' | 'python' | null;
  status: RunStatus;
  waits: Wait[] | null;
  plans: TurnPlan[];
  steps: TurnStep[];
  answer: string | null;
  figures: Figure[];
  deviations: Deviation[];
  suggestions: Suggestion[];
  cost: TurnCost;
  error: Failure | null;
  created_by: string;
  created_at: string;
  ended_at: string | null;
  undoable: boolean;
}

/** What is asked: the message with everything that belongs to it. */
export interface Asked {
  message: string;
  thread_id: string | null;
  /** Unset: the head of the thread; null: a new first message. */
  parent?: string | null;
  mentions?: string[];
  /** Finished uploads. */
  attachments?: string[];
}
