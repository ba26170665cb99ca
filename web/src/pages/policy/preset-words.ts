/** The presets in words. */

export const PRESET_WORDS: Record<string, { title: string; about: string }> = {
  'read-only': {
    title: 'Read-only',
    about: 'Runs look and compute. They change nothing and send nothing.',
  },
  'draft-only': {
    title: 'Draft-only',
    about: 'Runs change data on branches, never on main. Nothing leaves, nothing is deleted.',
  },
  supervised: {
    title: 'Supervised',
    about:
      'Changes of data are tried first and can be undone. A person approves what leaves or removes.',
  },
  trusted: {
    title: 'Trusted',
    about: 'Messages go out by themselves after a dry run. Removing and administering still ask.',
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
