/** Steps as the page takes them: whatever ends a trial stops it and removes its branch. */
import { cancelWork } from '@/api/long-work';
import { forgetTrial } from '@/api/resolve';
import { NO_TRIAL, type Steps, useSteps } from './use-steps';

export interface Way {
  steps: Steps;
  /** Goes on without the trial, if there is one. */
  go: (next: Partial<Pick<Steps, 'datasets' | 'proposal'>>) => void;
  /** Shows a new trial in place of the one before. */
  show: (trial: { task: string; branch: string }) => void;
  /** Applying has begun; the trial stays to be looked at. */
  apply: (task: string) => void;
  /** What was tried is in the data now, so its branch can go. */
  finish: () => void;
}

export function useTrial(projectId: string): Way {
  const [steps, set] = useSteps();
  const end = async () => {
    const { trial, branch } = steps;
    if (branch === null) return;
    // First stopped: a run that loses its branch would be told as a failure.
    if (trial !== null) await cancelWork(projectId, trial).catch(() => undefined);
    await forgetTrial(projectId, branch);
  };
  return {
    steps,
    go: (next) => {
      void end();
      set({ ...next, ...NO_TRIAL });
    },
    show: ({ task, branch }) => {
      void end();
      set({ trial: task, branch, applied: null });
    },
    apply: (task) => set({ applied: task }),
    finish: () => {
      void end();
      set({ branch: null });
    },
  };
}
