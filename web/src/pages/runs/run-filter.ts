/** Which runs are listed; the address says so. */
import { t } from '@lingui/core/macro';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { RunStatus } from '@/api/run-types';
import { COUNTED_KEYS, type Counted, type RunFilter } from '@/api/runs';
import { RUN_STATUSES, statusLook } from '@/components/run-status';
import { useSearchParam } from '@/components/use-search-param';

const GROUPS: Record<string, { label: string; statuses: RunStatus[] }> = {
  active: {
    label: t`Under way`,
    statuses: ['queued', 'running', 'blocked', 'waiting_for_approval', 'reviewing'],
  },
  waiting: {
    label: t`Waiting for somebody`,
    statuses: ['blocked', 'waiting_for_approval', 'reviewing'],
  },
};

export const STATUS_CHOICES = [
  {
    group: t`Groups`,
    items: Object.entries(GROUPS).map(([value, { label }]) => ({ value, label })),
  },
  {
    group: t`Statuses`,
    items: RUN_STATUSES.map((value) => ({ value, label: statusLook(value).word })),
  },
];

export function statusesOf(choice: string | null): RunStatus[] {
  if (choice === null) return [];
  const group = GROUPS[choice];
  if (group) return group.statuses;
  return RUN_STATUSES.filter((status) => status === choice);
}

export interface FilterState extends RunFilter {
  choice: string | null;
  counted: Counted;
  set: (change: { status?: string | null; q?: string; mine?: boolean; byHand?: boolean }) => void;
}

/** Typing must not leave a step in the history for each letter. */
export function useRunFilter(): FilterState {
  const [choice] = useSearchParam('status');
  const [text] = useSearchParam('q');
  const [mine] = useSearchParam('mine');
  const [byHand] = useSearchParam('byHand');
  const counted = countedIn(useSearch({ strict: false }));
  const navigate = useNavigate();
  const set = useCallback<FilterState['set']>(
    ({ status, q, mine: isMine, byHand: withHand }) => {
      void navigate({
        to: '.',
        replace: true,
        search: (previous: Record<string, unknown>) => ({
          ...previous,
          ...(status === undefined ? {} : { status: status ?? undefined }),
          ...(q === undefined ? {} : { q: q === '' ? undefined : q }),
          ...(isMine === undefined ? {} : { mine: isMine ? 'true' : undefined }),
          ...(withHand === undefined ? {} : { byHand: withHand ? 'true' : undefined }),
        }),
      });
    },
    [navigate],
  );
  return {
    choice,
    statuses: statusesOf(choice),
    text: text ?? '',
    mine: mine === 'true',
    // Figures count what people did by hand as well.
    byHand: byHand === 'true' || Object.keys(counted).length > 0,
    counted,
    set,
  };
}

/** Which figure the reader came from. */
function countedIn(search: Record<string, unknown>): Counted {
  const found: Counted = {};
  for (const key of COUNTED_KEYS) {
    const value = search[key];
    if (typeof value === 'string' && value !== '') found[key] = value;
  }
  return found;
}
