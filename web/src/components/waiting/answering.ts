/** Sends an answer and says plainly when somebody else was quicker. */
import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { ApiError } from '@/api/errors';
import { useAnswer } from '@/api/inbox';
import type { Waiting } from '@/api/run-types';
import { useProject } from '@/app/project';
import { showToast } from '../toasts';
import { showDone } from '../undo';

const SHOWN_FOR = 8_000;
/** What is asked has changed: the card stays and shows why. */
const ASKED_ANEW = 'other-payload';

function isOverTaken(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.code !== ASKED_ANEW;
}

/** Cards go away when they are answered, so what follows must not depend on them. */
export function useAnswered() {
  const [state, setState] = useState<{ isPending: boolean; error: unknown }>({
    isPending: false,
    error: null,
  });
  const send = async <Result>(answering: () => Promise<Result>, then: (result: Result) => void) => {
    setState({ isPending: true, error: null });
    try {
      then(await answering());
    } catch (error) {
      const isLate = isOverTaken(error);
      setState({ isPending: false, error: isLate ? null : error });
      if (isLate) {
        showToast({
          tone: 'neutral',
          shownFor: SHOWN_FOR,
          title: t`Your answer was not taken`,
          message: error.detail || error.title,
        });
      }
    }
  };
  return { ...state, send };
}

/** A decision about what waits: sends it, and says what was done. */
export function useDecision({ run_id: runId, key }: Pick<Waiting, 'run_id' | 'key'>) {
  const project = useProject();
  const answer = useAnswer(project.id);
  const { send, isPending, error } = useAnswered();
  const say = (given: Record<string, unknown>, done: string) =>
    void send(
      () => answer.mutateAsync({ runId, key, answer: given }),
      () => showDone(done),
    );
  return { say, isPending, error };
}
