/** Things are done at once and can be undone: by the toast's button or with Ctrl/Cmd-Z. */
import { t } from '@lingui/core/macro';
import { ApiError, explain } from '@/api/errors';
import { hideToast, showToast } from './toasts';

const SHOWN_FOR = 20_000;
const CONFIRMATION_FOR = 4_000;

export interface Undoable {
  /** What has been done, such as "Ada removed". */
  message: string;
  undo: () => Promise<unknown>;
  /** What the toast says afterwards. */
  undone?: string;
  /** The word on the button where "Undo" would promise too much. */
  label?: string;
}

interface Offer {
  toastId: string;
  action: Undoable;
}

let offers: Offer[] = [];

export function showFailure(error: unknown): void {
  const { title, detail } = explain(error);
  // A change that waits for approval has not failed.
  const waiting = error instanceof ApiError ? error.runId : null;
  showToast({
    tone: waiting === null ? 'failure' : 'neutral',
    shownFor: SHOWN_FOR,
    message: detail || title,
    ...(detail ? { title } : {}),
    ...(waiting === null ? {} : { runId: waiting }),
  });
}

export function showDone(message: string): void {
  showToast({ tone: 'success', shownFor: CONFIRMATION_FOR, message });
}

/** Tells of a change that succeeded. A form whose key is a revision may be gone by then, and with it what it told
 * TanStack Query to call: events of the change arrive before its answer. Forms show errors themselves. */
export function whenDone<T>(change: Promise<T>, tell: (result: T) => void): void {
  void change.then(tell, () => undefined);
}

async function runUndo({ toastId, action }: Offer): Promise<void> {
  // Gone first, so that a second press cannot undo twice.
  hideToast(toastId);
  try {
    await action.undo();
    if (action.undone !== undefined) showDone(action.undone);
  } catch (error) {
    showFailure(error);
  }
}

/** Offers to take back what has just been done. */
export function offerUndo(action: Undoable): void {
  const toastId: string = showToast({
    tone: 'neutral',
    shownFor: SHOWN_FOR,
    message: action.message,
    action: { label: action.label ?? t`Undo`, run: () => void runUndo({ toastId, action }) },
    onGone: () => {
      offers = offers.filter((offer) => offer.toastId !== toastId);
    },
  });
  offers.push({ toastId, action });
}

let beyondOffers: (() => void) | null = null;

/** What Ctrl/Cmd-Z does when nothing is on offer any more; null for nothing. */
export function setUndoBeyondOffers(undo: (() => void) | null): void {
  beyondOffers = undo;
}

/** Undoes the latest thing still on offer; false when there is none. */
export function undoLatest(): boolean {
  const latest = offers.at(-1);
  if (!latest) {
    beyondOffers?.();
    return beyondOffers !== null;
  }
  void runUndo(latest);
  return true;
}
