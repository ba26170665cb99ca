/** The windows of a trace around what is in view, and those beside them, so that scrolling meets no holes. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
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
/** Rows drawn above and below what is in view: as far as a wheel turns before the next ones are drawn. */
const MARGIN_ROWS = 24;
/** Rows are drawn again after so many have gone out of view, not with every pixel. */
const STEP_ROWS = 8;
/** Drawn rows have names from a ring, so that a row that goes out of view becomes one that comes in. */
export const ROW_NAMES = 2 * MARGIN_ROWS + VIEW_ROWS + STEP_ROWS;
/** A list that was dragged far rests when it has stood still for so long. */
const REST_MS = 100;
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
  const { step, rest, setTop } = useSteps();
  const [asked, setAsked] = useState<TraceWindows['asked']>(null);
  const show = useCallback(
    (index: number) => setAsked((before) => ({ index, times: (before?.times ?? 0) + 1 })),
    [],
  );
  const folded = useMemo(() => [...folds.keys()].sort((a, b) => a - b), [folds]);
  const [first, last] = drawn(step);
  const wanted = new Set<number>();
  const [least, most] = drawn(rest);
  for (
    let offset = windowOf(least) - AHEAD * TRACE_WINDOW;
    offset <= windowOf(most) + AHEAD * TRACE_WINDOW;
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

/** Where the list is, in steps, and where it last rested: rows that fly past are not read. */
function useSteps() {
  const [step, setStep] = useState(0);
  const [rest, setRest] = useState(0);
  const at = useRef(0);
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const setTop = useCallback((top: number) => {
    const next = Math.floor(top / (ROW * STEP_ROWS));
    if (next === at.current) return;
    const isLeap = Math.abs(next - at.current) * STEP_ROWS > VIEW_ROWS + MARGIN_ROWS;
    at.current = next;
    window.clearTimeout(timer.current);
    // Before the screen shows the new place, of which no row may be drawn yet.
    flushSync(() => {
      setStep(next);
      if (!isLeap) setRest(next);
    });
    if (isLeap) timer.current = window.setTimeout(() => setRest(next), REST_MS);
  }, []);
  return { step, rest, setTop };
}

/** Rows around a step: the first, and the one after the last. */
function drawn(step: number): [number, number] {
  const first = Math.max(0, step * STEP_ROWS - MARGIN_ROWS);
  return [first, (step + 1) * STEP_ROWS + VIEW_ROWS + MARGIN_ROWS];
}

function windowOf(row: number): number {
  return Math.floor(row / TRACE_WINDOW) * TRACE_WINDOW;
}
