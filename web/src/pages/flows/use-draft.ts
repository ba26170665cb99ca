/** The reader's draft of a flow: kept on the server as they change it, theirs alone until they save. */
import { useEffect, useState } from 'react';
import { ApiError } from '@/api/errors';
import { discardDraft, type DraftBody, keepDraft, readDraft } from '@/api/playbooks';
import { DraftKeeper, type Keeping } from '@/flows/draft-keeper';
import type { Drawing } from '@/flows/merge';
import type { Studio } from './use-studio';

interface Props {
  projectId: string;
  /** The playbook, or `new`. */
  playbookId: string;
  studio: Studio;
  baseVersion: number;
  /** The version of the draft that was opened; 0 if there was none. */
  version: number;
  mayEdit: boolean;
}

type Kept = Omit<DraftBody, 'seen'>;

export function useDraft({ projectId, playbookId, studio, baseVersion, version, mayEdit }: Props) {
  const [keeping, setKeeping] = useState<Keeping>({ state: version > 0 ? 'kept' : 'none' });
  // Made once: the version that was opened counts on from here by itself.
  const [keeper] = useState(
    () =>
      new DraftKeeper<Kept>(
        {
          keep: (draft, seen) => keepDraft(projectId, playbookId, { ...draft, seen }),
          discard: (seen) => discardDraft(projectId, playbookId, seen),
          look: async () => (await readDraft(projectId, playbookId))?.version ?? 0,
          isElsewhere: (error) => error instanceof ApiError && error.status === 412,
        },
        version,
        setKeeping,
      ),
  );
  useEffect(() => () => void keeper.flush(), [keeper]);
  const { text, layout, saved, isChanged } = studio;
  useEffect(() => {
    if (!mayEdit) return;
    const kept = { drawing: body({ text, layout }), base: body(saved), base_version: baseVersion };
    keeper.want(isChanged ? kept : null);
  }, [keeper, text, layout, saved, isChanged, baseVersion, mayEdit]);
  return {
    keeping,
    /** What was drawn is saved: the draft goes, before the page may be left. */
    drop: () => keeper.want(null),
  };
}

const body = ({ text, layout }: Drawing) => ({ text, layout: { ...layout } });
