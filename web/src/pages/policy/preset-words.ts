/** The presets in words. */
import { t } from '@lingui/core/macro';

export const PRESET_WORDS: Record<string, { title: string; about: string }> = {
  'read-only': {
    title: t`Read-only`,
    about: t`Runs look and compute. They change nothing and send nothing.`,
  },
  'draft-only': {
    title: t`Draft-only`,
    about: t`Runs change data on branches, never on main. They send and delete nothing.`,
  },
  supervised: {
    title: t`Supervised`,
    about: t`Steward tries changes of data first, and you can undo them. It asks for approval before it sends or deletes anything.`,
  },
  trusted: {
    title: t`Trusted`,
    about: t`Steward sends messages after a dry run. It still asks before it deletes anything or changes settings.`,
  },
};

const OUTCOME_WORDS: Record<string, string> = {
  allow: 'allowed',
  dry_run: t`allowed after a dry run`,
  ask: t`a person is asked`,
  deny: 'denied',
};

export function outcomeWord(outcome: string): string {
  return OUTCOME_WORDS[outcome] ?? outcome;
}
