/** Names for the shapes of runs, approvals and policies in the HTTP API, with what the schema leaves open. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type RunStatus = Schemas['RunOut']['status'];

interface RunProgress {
  done: number;
  total: number;
  /** State by node of the flow. */
  nodes: Record<string, string>;
  /** How many items of a list, or branches, are done, by node. */
  parts?: Record<string, { done: number; total: number }>;
}

export interface Wait {
  key: string;
  kind: string;
  reason: string;
  expires_at: string | null;
}

type Told = 'progress' | 'waits';
export type Run = Omit<Schemas['RunOut'], Told> & {
  progress: RunProgress | null;
  waits: Wait[] | null;
};
export type ListedRun = Run & Pick<Schemas['ListedRun'], 'cost_usd'>;

export interface Usage {
  limit: string | null;
  spent: string;
  reserved: string;
  left: string | null;
}

export interface Failure {
  code: string;
  message: string;
}

export interface FlowNode {
  id: string;
  type: string;
  title?: string;
  tool?: string;
  needs?: string[];
}

export type RunDetail = Omit<Schemas['RunDetail'], Told | 'usage' | 'error' | 'document'> &
  Pick<Run, Told> & {
    usage: Record<string, Usage>;
    error: Failure | null;
    document: { nodes?: FlowNode[] } | null;
  };

export interface Rule {
  level: string;
  id: string;
  effect: string;
  reason: string | null;
}

export interface Decision {
  outcome: string;
  reason: string;
  rules: Rule[];
  approvers: string[];
  four_eyes?: boolean;
}

/** What a call would do; the details depend on the tool. */
export interface CallPreview {
  summary: string;
  details: Record<string, unknown>;
  /** Why it could not be taken back; null when it can. */
  irreversible?: string | null;
}

interface Labels {
  sources: string[];
  trusted: boolean;
}

export interface Provenance {
  trusted: boolean;
  untrusted_arguments: boolean;
  sources: string[];
  /** Where the value of each argument comes from. */
  arguments: Record<string, Labels>;
  /** What whoever is asked should look at, in words. */
  doubts?: string[];
}

export interface Artifact {
  name: string;
  media_type: string;
  digest: string;
  size: number;
}

export interface ApprovalAnswer {
  approval_id: string;
  decision: string;
  by: string;
  reason: string;
  body_hash: string;
  edited: boolean;
  at: string;
}

export interface CallWait {
  key: string;
  request: { kind?: string; question?: string; message?: string };
  at: string;
  answer?: Record<string, unknown> & { by?: string };
  answered_at?: string;
}

type Open =
  'decision' | 'preview' | 'provenance' | 'approvals' | 'waits' | 'artifacts' | 'cost' | 'error';
/** One call of a tool, or one wait of a flow, from its first entry to its last. */
export type Call = Omit<Schemas['CallOut'], Open> & {
  decision: Decision | null;
  preview: CallPreview | null;
  provenance: Provenance | null;
  approvals: ApprovalAnswer[];
  waits: CallWait[];
  artifacts: Artifact[];
  cost: Record<string, string | number> | null;
  error: Failure | null;
};

/** One call that changed something, and how it can be taken back. */
export type Action = Schemas['ActionOut'];
export type JournalEntry = Schemas['EntryOut'];
export type Replay = Schemas['ReplayOut'];
export type Verified = Schemas['VerifyOut'];
export type Tool = Schemas['ToolOut'];
export type StartRequest = Schemas['StartIn'];
export type Schedule = Schemas['ScheduleOut'];
export type NewSchedule = Schemas['ScheduleIn'];

interface CallBody {
  tool: string;
  arguments: Record<string, unknown>;
  destination: string | null;
  /** Path of an argument → what it is for; calls that were planned before roles have none. */
  roles?: Record<string, string>;
}

type Asked = 'body' | 'preview' | 'provenance' | 'rules';
export type Approval = Omit<Schemas['ApprovalOut'], Asked> & {
  body: CallBody;
  preview: CallPreview | null;
  provenance: Provenance | null;
  rules: Rule[];
};

/** What a wait asks; which fields there are depends on the kind. */
export interface WaitRequest {
  question?: string;
  details?: string;
  /** JSON Schema of the answer, of a question that a tool asks. */
  answer?: Record<string, unknown>;
  /** The same, of a question that a flow asks. */
  form?: Record<string, unknown>;
  /** Why the last answer was not taken. */
  wrong?: string;
  message?: string;
  payload?: unknown;
  body_hash?: string;
  /** What to look at before deciding, and the component that shows it. */
  shown?: unknown;
  view?: string;
  /** JSON Schema of a payload that was changed before approving; absent: it is approved as it is. */
  edit?: Record<string, unknown>;
  breach?: {
    limit: string;
    message: string;
    asked: string;
    left: string;
    total: string;
    /** Of a budget of a day, week or month; absent: it is the run's own. */
    budget_id?: string;
    resets_at?: string;
    /** Of a list of items, none of which has begun: how many there are. */
    parts?: number;
  };
  tool?: string;
  request?: unknown;
  /** Of a plan that waits to be looked at. */
  reason?: string;
  plan?: { steps: { id: string; title: string; agent: string; tools: string[] }[] };
}

export type Waiting = Omit<Schemas['WaitingOut'], 'request' | 'approval' | 'kind'> & {
  kind: 'approval' | 'gate' | 'question' | 'budget' | 'uncertain' | 'plan';
  request: WaitRequest | null;
  approval: Approval | null;
};

export type PolicyLevel = Schemas['PolicyOut']['level'];
export type PolicyRevision = Schemas['PolicyOut'];
export type PolicySettings = Schemas['SettingsOut'];
export type ChangedDecision = Schemas['ChangedDecision'];
export type Explanation = Schemas['DecisionOut'];
export type PolicyQuestion = Schemas['CheckIn'];
export type ApproverGroup = Schemas['GroupOut'];
