/** The windows of a trace around what is in view, and those beside them, so that scrolling meets no holes. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import {
  TRACE_WINDOW,
  traceQuery,
  type Trace,
  type TraceSearch,
  type TraceSpan,
} from '@/api/observe';
import type { Folds } from './folds';

/** The height of a row; the style sheet has the same. */
export const ROW = 30;
export const VIEW_ROWS = 18;
const MARGIN_ROWS = 12;
/** Windows that are read before they come into view, in either direction. */
const AHEAD = 1;

export interface TraceWindows {
  whole: Trace | undefined;
  error: Error | null;
  retry: () => Promise<unknown>;
  /** Rows to draw: the first, and the one after the last. */
  first: number;
  last: number;
  spanAt: (index: number) => TraceSpan | undefined;
  /** Where the list is scrolled to. */
  setTop: (top: number) => void;
  /** A row that the list must scroll to, and how often that was asked for. */
  asked: { index: number; times: number } | null;
  show: (index: number) => void;
}

export function useTraceWindows(
  projectId: string,
  runId: string,
  search: TraceSearch,
  folds: Folds,
  isLive: boolean,
): TraceWindows {
  const [top, setTop] = useState(0);
  const [asked, setAsked] = useState<TraceWindows['asked']>(null);
  const show = useCallback(
    (index: number) => setAsked((before) => ({ index, times: (before?.times ?? 0) + 1 })),
    [],
  );
  const folded = useMemo(() => [...folds.keys()].sort((a, b) => a - b), [folds]);
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN_ROWS);
  const last = first + VIEW_ROWS + 2 * MARGIN_ROWS;
  const wanted = new Set<number>();
  for (
    let offset = windowOf(first) - AHEAD * TRACE_WINDOW;
    offset <= windowOf(last) + AHEAD * TRACE_WINDOW;
    offset += TRACE_WINDOW
  ) {
    if (offset > 0) wanted.add(offset);
  }
  if (asked && windowOf(asked.index) > 0) wanted.add(windowOf(asked.index));
  const offsets = [...wanted];
  // The first window stays while another filter or fold is read, and with it the list and its focus.
  const head = useQuery(traceQuery(projectId, runId, 0, search, folded, isLive));
  const answers = useQueries({
    queries: offsets.map((offset) => traceQuery(projectId, runId, offset, search, folded, isLive)),
  });
  const whole = head.data;
  const failed = [head, ...answers].find((answer) => answer.isError);
  const known = new Map(offsets.map((offset, at) => [offset, answers[at]?.data?.spans]));
  known.set(0, head.data?.spans);
  return {
    whole,
    error: failed?.error ?? null,
    retry: () => Promise.all([head, ...answers].map((answer) => answer.refetch())),
    first,
    last: Math.min(last, whole?.total ?? 0),
    spanAt: (index) => known.get(windowOf(index))?.[index % TRACE_WINDOW],
    setTop,
    asked,
    show,
  };
}

function windowOf(row: number): number {
  return Math.floor(row / TRACE_WINDOW) * TRACE_WINDOW;
}
