/** That a flow has changes which are not saved, and where they are. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { explain } from '@/api/errors';
import type { Keeping } from '@/flows/draft-keeper';

interface Props {
  keeping: Keeping;
  /** Undo brings it back. */
  onDiscard: () => void;
}

export function DraftState({ keeping, onDiscard }: Props) {
  return (
    <>
      <span>{t`Not saved yet. ${sentence(keeping)}`}</span>
      <Button size="compact-xs" variant="subtle" onClick={onDiscard}>
        {t`Discard draft`}
      </Button>
    </>
  );
}

function sentence(keeping: Keeping): string {
  if (keeping.state === 'kept') return t`Your draft is kept, and only you see it.`;
  if (keeping.state === 'elsewhere') {
    return t`You have a draft of this flow in another window. Save here to keep both.`;
  }
  if (keeping.state !== 'failed') return '';
  const { title, detail } = explain(keeping.error);
  return t`Your draft could not be kept: ${detail || title}`;
}
