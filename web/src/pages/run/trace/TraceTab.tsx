/** The trace of a run: a tree of spans with their times, read window by window however long it is. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  traceBucketsQuery,
  traceErrorsQuery,
  type TraceSearch,
  type TraceSpan,
} from '@/api/observe';
import type { RunDetail } from '@/api/run-types';
import { isFinal } from '@/api/runs';
import { useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import { AnalysisPanel } from './AnalysisPanel';
import { indexOf, type Folds, nextError, resized } from './folds';
import { MiniMap } from './MiniMap';
import { SpanDetails } from './SpanDetails';
import { isSameSpan } from './spans';
import { SpanTree } from './SpanTree';
import { type Filters, NO_FILTERS, TraceFilters } from './TraceFilters';
import { type TraceWindows, useTraceWindows } from './use-trace-windows';

const NO_FOLDS: Folds = new Map();

export default function TraceTab({ run }: { run: RunDetail }) {
  const project = useProject();
  const formats = useFormats();
  const isLive = !isFinal(run.status);
  const [analysing, setAnalysing] = useSearchParam('analysis');
  const [wanted, setWanted] = useSearchParam('span');
  const [filters, setFilters] = useState<Filters>(NO_FILTERS);
  const [folds, setFolds] = useState<Folds>(NO_FOLDS);
  const [picked, setPicked] = useState<TraceSpan | null>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const { text, operation, errors, slowerThan } = filters;
  const [search] = useDebouncedValue<TraceSearch>(
    { text: text.trim(), operation, errors, slowerThan: Number(slowerThan) || 0 },
    250,
  );
  const isFiltered = search.text !== '' || operation !== null || errors || search.slowerThan > 0;
  const windows = useTraceWindows(
    project.id,
    run.id,
    search,
    isFiltered ? NO_FOLDS : folds,
    isLive,
  );
  const failed = useQuery(traceErrorsQuery(project.id, run.id, isLive)).data?.spans ?? [];
  const buckets = useQuery(traceBucketsQuery(project.id, run.id, isLive)).data;
  const { whole, spanAt, show } = windows;
  const target = wanted === null ? null : Number(wanted);

  // A link to a span: unfolded, scrolled to, and chosen once its row is there.
  const index = target === null ? null : indexOf(target, isFiltered ? NO_FOLDS : folds);
  const found = index === null ? undefined : spanAt(index);
  useEffect(() => {
    if (index !== null) show(index);
  }, [index, show]);
  const shown = shownSpans(windows);
  const chosen = picked
    ? (shown.find((span) => isSameSpan(span, picked)) ?? picked)
    : found?.position === target
      ? found
      : null;
  const fitting = isFiltered ? folds : resized(folds, shown);
  if (fitting !== folds) setFolds(fitting);

  const goTo = (position: number) => {
    setFilters(NO_FILTERS);
    const open = unfoldedAt(folds, position);
    setFolds(open);
    setPicked(null);
    setWanted(String(position));
    show(indexOf(position, open));
  };
  const step = (direction: 1 | -1) => {
    const position = nextError(failed, chosen?.position ?? -1, direction);
    if (position !== null) goTo(position);
  };
  // The same functions while it scrolls, so that what is around the rows is not drawn again.
  const latest = useRef({ goTo, step });
  useEffect(() => {
    latest.current = { goTo, step };
  });
  const goToSpan = useCallback((position: number) => latest.current.goTo(position), []);
  const goToNextError = useCallback(() => latest.current.step(1), []);
  if (windows.error && !whole)
    return <ErrorState error={windows.error} retry={() => void windows.retry()} />;
  if (!whole) return <LoadingLines />;
  return (
    <Section
      title={t`Trace`}
      description={t`${formats.number(whole.total)} spans in ${durationText(whole.milliseconds)}.`}
    >
      {whole.reading && (
        <Text size="sm" role="status">
          {t`These are the first spans of a long run. Steward is reading the rest: ${formats.number(whole.reading.read)} of ${formats.number(whole.reading.entries)} journal entries. They appear here by themselves.`}
        </Text>
      )}
      {analysing !== null && (
        <AnalysisPanel run={run} onSpan={goTo} onClose={() => setAnalysing(null)} />
      )}
      <TraceFilters
        filters={filters}
        onFilters={setFilters}
        searchField={searchField}
        hasErrors={failed.length > 0}
        onNextError={goToNextError}
      />
      <MiniMap buckets={buckets} onSpan={goToSpan} />
      {whole.total === 0 ? (
        <EmptyState icon={Activity} title={t`No span fits`}>
          {t`Change the filter above.`}
        </EmptyState>
      ) : (
        <SpanTree
          windows={windows}
          whole={whole}
          folds={folds}
          isFiltered={isFiltered}
          chosen={chosen}
          onChoose={setPicked}
          onFolds={setFolds}
          onError={step}
          onSearch={() => searchField.current?.focus()}
        />
      )}
      <Text size="xs" c="dimmed">
        {t`Keys: ↑ ↓ choose · ← → fold · E next error · / search · Home and End`}
      </Text>
      {chosen && <SpanDetails key={`${chosen.run_id}:${chosen.key}`} span={chosen} run={run} />}
    </Section>
  );
}

/** The spans that are drawn now, as they stand. */
function shownSpans({ first, last, spanAt }: TraceWindows): TraceSpan[] {
  const found: TraceSpan[] = [];
  for (let index = first; index < last; index += 1) {
    const span = spanAt(index);
    if (span) found.push(span);
  }
  return found;
}

/** The folds without those that hide a position. */
function unfoldedAt(folds: Folds, position: number): Folds {
  const kept = [...folds].filter(([at, size]) => position <= at || position > at + size);
  return kept.length === folds.size ? folds : new Map(kept);
}
