/** The presets in words. */

export const PRESET_WORDS: Record<string, { title: string; about: string }> = {
  'read-only': {
    title: 'Read-only',
    about: 'Runs look and compute. They change nothing and send nothing.',
  },
  'draft-only': {
    title: 'Draft-only',
    about: 'Runs change data on branches, never on main. They send and delete nothing.',
  },
  supervised: {
    title: 'Supervised',
    about:
      'Steward tries changes of data first, and you can undo them. It asks for approval before it sends or deletes anything.',
  },
  trusted: {
    title: 'Trusted',
    about:
      'Steward sends messages after a dry run. It still asks before it deletes anything or changes settings.',
  },
};

const OUTCOME_WORDS: Record<string, string> = {
  allow: 'allowed',
  dry_run: 'allowed after a dry run',
  ask: 'a person is asked',
  deny: 'denied',
};

export function outcomeWord(outcome: string): string {
  return OUTCOME_WORDS[outcome] ?? outcome;
}
