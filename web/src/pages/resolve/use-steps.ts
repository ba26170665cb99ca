/** How far one has come is in the address, so that a reload or a colleague finds the same. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export interface Steps {
  datasets: string[];
  /** The task whose rules are shown. */
  proposal: string | null;
  /** The task that tried them out. */
  trial: string | null;
  /** The branch on which it did. */
  branch: string | null;
  /** The task that applied what was tried. */
  applied: string | null;
}

const NAMES = ['datasets', 'proposal', 'trial', 'branch', 'applied'] as const;

/** What stands in the address once there is no trial. */
export const NO_TRIAL = { trial: null, branch: null, applied: null } as const;

export function parseNames(text: unknown): string[] {
  if (typeof text !== 'string') return [];
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

export function useSteps(): [Steps, (next: Partial<Steps>) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const text = (name: string) => (typeof search[name] === 'string' ? search[name] : null);
  const steps = {
    datasets: parseNames(search.datasets),
    proposal: text('proposal'),
    trial: text('trial'),
    branch: text('branch'),
    applied: text('applied'),
  };
  const go = (next: Partial<Steps>) => {
    const all: Steps = { ...steps, ...next };
    const written = {
      ...all,
      datasets: all.datasets.length > 0 ? JSON.stringify(all.datasets) : null,
    };
    void navigate({
      to: '.',
      search: Object.fromEntries(NAMES.map((name) => [name, written[name] ?? undefined])),
      // Choosing datasets is no step, nor is what becomes of a branch.
      replace: next.datasets !== undefined || next.trial === undefined,
    });
  };
  return [steps, go];
}
