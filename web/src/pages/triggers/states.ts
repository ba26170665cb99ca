/** How triggers and their events fare, in words and marks. */
import { t } from '@lingui/core/macro';
import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CirclePlay,
  Filter,
  Hand,
  Hourglass,
  type LucideIcon,
  MailX,
  VolumeX,
} from 'lucide-react';
import type { EventState, WatchedTrigger } from '@/api/triggers';
import type { Tone } from '@/components/run-status';

interface Look {
  word: string;
  icon: LucideIcon;
  tone: Tone;
}

export const EVENT_LOOKS: Record<EventState, Look> = {
  stored: { word: t`Stored`, icon: CircleDashed, tone: 'neutral' },
  waiting: { word: t`Waiting`, icon: Hourglass, tone: 'neutral' },
  held: { word: t`Needs you`, icon: Hand, tone: 'wait' },
  running: { word: t`Running`, icon: CirclePlay, tone: 'busy' },
  done: { word: t`Done`, icon: CircleCheck, tone: 'good' },
  failed: { word: t`Failed`, icon: CircleAlert, tone: 'bad' },
  filtered: { word: t`Filtered out`, icon: Filter, tone: 'neutral' },
  dead: { word: t`Dead letter`, icon: MailX, tone: 'bad' },
  dropped: { word: t`Dropped`, icon: Ban, tone: 'neutral' },
};

export function healthOf(trigger: WatchedTrigger): Look {
  if (!trigger.enabled) return { word: t`Paused`, icon: CirclePause, tone: 'neutral' };
  if (trigger.failing_since !== null) return { word: t`Failing`, icon: CircleAlert, tone: 'bad' };
  if (trigger.silent_since !== null) return { word: t`Silent`, icon: VolumeX, tone: 'wait' };
  return { word: t`On`, icon: CircleCheck, tone: 'good' };
}

const count = (trigger: WatchedTrigger, ...states: EventState[]) =>
  states.reduce((sum, state) => sum + (trigger.counts[state] ?? 0), 0);

export const waitingOf = (trigger: WatchedTrigger) => count(trigger, 'stored', 'waiting', 'held');
export const failedOf = (trigger: WatchedTrigger) => count(trigger, 'failed', 'dead');

export const MISSED_WORDS: Record<string, string> = {
  skip: t`Missed moments are skipped`,
  once: t`Missed moments: one run`,
  all: t`Missed moments: a run for each`,
  ask: t`Missed moments: you are asked`,
};
