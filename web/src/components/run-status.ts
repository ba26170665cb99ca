/** Statuses of runs and states of calls: the word, the icon and the tone of each. */
import { t } from '@lingui/core/macro';
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Clock,
  Eye,
  Hand,
  type LucideIcon,
  Play,
  ShieldX,
  Undo2,
} from 'lucide-react';
import type { RunStatus } from '@/api/run-types';

export type Tone = 'neutral' | 'busy' | 'wait' | 'good' | 'bad';

export interface StateLook {
  word: string;
  icon: LucideIcon;
  tone: Tone;
}

const STATUSES: Record<RunStatus, StateLook> = {
  queued: { word: t`Queued`, icon: Clock, tone: 'neutral' },
  running: { word: t`Running`, icon: Play, tone: 'busy' },
  blocked: { word: t`Blocked`, icon: Hand, tone: 'wait' },
  waiting_for_approval: { word: t`Waiting for approval`, icon: Hand, tone: 'wait' },
  reviewing: { word: t`Reviewing`, icon: Eye, tone: 'wait' },
  done: { word: t`Done`, icon: CircleCheck, tone: 'good' },
  failed: { word: t`Failed`, icon: CircleX, tone: 'bad' },
  cancelled: { word: t`Cancelled`, icon: Ban, tone: 'neutral' },
};

export const RUN_STATUSES = Object.keys(STATUSES) as RunStatus[];

export function statusLook(status: RunStatus): StateLook {
  return STATUSES[status];
}

const STATES: Record<string, StateLook> = {
  running: STATUSES.running,
  done: STATUSES.done,
  failed: STATUSES.failed,
  waiting: { word: t`Waiting`, icon: Hand, tone: 'wait' },
  held: { word: t`Waiting`, icon: Hand, tone: 'wait' },
  denied: { word: t`Denied`, icon: ShieldX, tone: 'bad' },
  refused: { word: t`Refused`, icon: ShieldX, tone: 'bad' },
  skipped: { word: t`Skipped`, icon: CircleSlash, tone: 'neutral' },
  pending: { word: t`Not yet`, icon: CircleDashed, tone: 'neutral' },
  undone: { word: t`Undone`, icon: Undo2, tone: 'neutral' },
};

/** How a call or a node of a flow stands; a state that is not known yet still reads as a word. */
export function stateLook(state: string): StateLook {
  const known = STATES[state];
  if (known) return known;
  return { word: state.replaceAll('_', ' '), icon: CircleDashed, tone: 'neutral' };
}

/** Per cent, rounded down so that 100 means all of it. */
export function percentOf(progress: { done: number; total: number } | null): number | null {
  if (!progress || progress.total <= 0) return null;
  return Math.floor((Math.min(progress.done, progress.total) / progress.total) * 100);
}

/** Why a run stands still, as the beginning of a sentence: "an approval: Send it" is "Approval: Send it". */
export function reasonText(reason: string | null): string | null {
  if (reason === null) return null;
  const said = reason.replace(/^an? (?=\w+: )/, '');
  return said.charAt(0).toUpperCase() + said.slice(1);
}
