/** Undo and redo of changes to data, each with a toast that says what was taken back and offers the way forth. */
import { t } from '@lingui/core/macro';
import { useHotkeys } from '@mantine/hooks';
import { useEffect } from 'react';
import type { Commit } from '@/api/data-types';
import { ApiError } from '@/api/errors';
import { redoCommit, undoCommit } from '@/api/history';
import { hideToast, showToast } from './toasts';
import { setUndoBeyondOffers, showFailure } from './undo';

const SHOWN_FOR = 20_000;

let lastToast: string | null = null;

/** Only the latest step offers the way back; an earlier toast would promise another one. */
function tell(message: string, label: string, run: () => void): void {
  if (lastToast !== null) hideToast(lastToast);
  const id: string = showToast({
    tone: 'success',
    shownFor: SHOWN_FOR,
    message,
    action: {
      label,
      run: () => {
        hideToast(id);
        run();
      },
    },
  });
  lastToast = id;
}

/** Having nothing to undo is worth a word, but no alarm. */
function explainFailure(error: unknown): void {
  if (error instanceof ApiError && error.code.startsWith('nothing')) {
    showToast({ tone: 'neutral', shownFor: SHOWN_FOR, message: error.detail || error.title });
  } else showFailure(error);
}

/** Takes back a commit, the last one unless told; null when that failed, which has been said by then. */
export async function undoData(projectId: string, commit?: string): Promise<Commit | null> {
  try {
    const made = await undoCommit(projectId, commit);
    tell(made.message, t`Redo`, () => void redoData(projectId));
    return made;
  } catch (error) {
    explainFailure(error);
    return null;
  }
}

export async function redoData(projectId: string): Promise<Commit | null> {
  try {
    const made = await redoCommit(projectId);
    tell(made.message, t`Undo`, () => void undoData(projectId, made.id));
    return made;
  } catch (error) {
    explainFailure(error);
    return null;
  }
}

/** On pages about data, Ctrl/Cmd-Z goes on undoing where the toasts end, and with Shift it redoes. */
export function useDataUndoKeys(projectId: string, enabled: boolean): void {
  useEffect(() => {
    if (!enabled) return;
    setUndoBeyondOffers(() => void undoData(projectId));
    return () => setUndoBeyondOffers(null);
  }, [enabled, projectId]);
  useHotkeys(enabled ? [['mod+shift+Z', () => void redoData(projectId)]] : []);
}
