/** The trace of a run: a tree of spans with their times, read window by window however long it is. */
import { NumberInput, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import { type UIEvent, useState } from 'react';
import { TRACE_WINDOW, type TraceSpan, traceQuery, type TraceSearch } from '@/api/observe';
import type { RunDetail } from '@/api/run-types';
import { isFinal } from '@/api/runs';
import { useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { JsonTree } from '@/components/JsonTree';
import { LoadingLines } from '@/components/LoadingLines';
import { SearchField } from '@/components/SearchField';
import { Section } from '@/components/Section';
import classes from './trace.module.css';

/** The height of a row; the style sheet has the same. */
const ROW = 30;
const VIEW_ROWS = 18;
const MARGIN_ROWS = 8;

export default function TraceTab({ run }: { run: RunDetail }) {
  const project = useProject();
  const formats = useFormats();
  const [text, setText] = useState('');
  const [errors, setErrors] = useState(false);
  const [slowerThan, setSlowerThan] = useState<number | string>('');
  const [top, setTop] = useState(0);
  const [chosen, setChosen] = useState<TraceSpan | null>(null);
  const [search] = useDebouncedValue<TraceSearch>(
    { text, errors, slowerThan: Number(slowerThan) || 0 },
    250,
  );
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN_ROWS);
  const last = first + VIEW_ROWS + 2 * MARGIN_ROWS;
  const windows = [...new Set([0, windowOf(first), windowOf(last)])];
  const answers = useQueries({
    queries: windows.map((offset) =>
      traceQuery(project.id, run.id, offset, search, !isFinal(run.status)),
    ),
  });
  const whole = answers[0]?.data;
  const failed = answers.find((answer) => answer.isError);
  if (failed && !whole)
    return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (!whole) return <LoadingLines />;
  const rows = new Map<number, TraceSpan>();
  answers.forEach((answer, index) =>
    answer.data?.spans.forEach((span, at) => rows.set((windows[index] ?? 0) + at, span)),
  );
  const shown = Array.from(
    { length: Math.max(0, Math.min(last, whole.total) - first) },
    (_, at) => first + at,
  );
  const begin = Date.parse(whole.start);
  return (
    <Section
      title="Trace"
      description={`${formats.number(whole.total)} spans in ${durationText(whole.milliseconds)}.`}
    >
      <div className={classes.filters}>
        <SearchField label="Search spans" placeholder="Search spans" onSearch={setText} />
        <NumberInput
          aria-label="Slower than, in milliseconds"
          placeholder="Slower than … ms"
          min={0}
          value={slowerThan}
          onChange={setSlowerThan}
          className={classes.slower ?? ''}
        />
        <Switch
          label="Errors only"
          checked={errors}
          onChange={(event) => setErrors(event.currentTarget.checked)}
        />
      </div>
      <MiniMap buckets={whole.buckets} />
      {whole.total === 0 ? (
        <EmptyState icon={Activity} title="No span fits">
          Change the filter above.
        </EmptyState>
      ) : (
        <div
          className={classes.scroller}
          role="group"
          aria-label="Spans"
          // Scrolls by itself, so it must be reachable by keyboard.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          style={{ height: Math.min(whole.total, VIEW_ROWS) * ROW + 2 }}
          onScroll={(event: UIEvent<HTMLDivElement>) => setTop(event.currentTarget.scrollTop)}
        >
          <ol className={classes.rows} style={{ height: whole.total * ROW }}>
            {shown.map((at) => {
              const span = rows.get(at);
              return (
                <li key={at} style={{ top: at * ROW }} className={classes.row}>
                  {span ? (
                    <SpanRow
                      span={span}
                      begin={begin}
                      whole={whole.milliseconds}
                      isChosen={chosen?.position === span.position}
                      onChoose={() => setChosen(span)}
                    />
                  ) : (
                    <span className={classes.pending}>…</span>
                  )}
                </li>
              );
            })}
          </ol>
        </div>
      )}
      {chosen && <SpanDetails span={chosen} />}
    </Section>
  );
}

function windowOf(row: number): number {
  return Math.floor(row / TRACE_WINDOW) * TRACE_WINDOW;
}

interface RowProps {
  span: TraceSpan;
  begin: number;
  whole: number;
  isChosen: boolean;
  onChoose: () => void;
}

function SpanRow({ span, begin, whole, isChosen, onChoose }: RowProps) {
  const length = Math.max(whole, 1);
  const left = ((Date.parse(span.start) - begin) / length) * 100;
  const width = (span.milliseconds / length) * 100;
  return (
    <button type="button" className={classes.span} aria-pressed={isChosen} onClick={onChoose}>
      <span className={classes.name} style={{ paddingInlineStart: `${span.depth * 0.875}rem` }}>
        {span.name}
        {span.size > 0 && <span className={classes.size}> {span.size}</span>}
      </span>
      <span className={classes.track} aria-hidden>
        <span
          className={classes.bar}
          data-bad={span.error !== null || undefined}
          style={{ insetInlineStart: `${Math.min(left, 99.5)}%`, width: `max(2px, ${width}%)` }}
        />
      </span>
      <span className={classes.length} data-bad={span.error !== null || undefined}>
        {span.error ?? durationText(span.milliseconds)}
      </span>
    </button>
  );
}

function SpanDetails({ span }: { span: TraceSpan }) {
  const formats = useFormats();
  return (
    <div className={classes.details} role="region" aria-label={`Details of ${span.name}`}>
      <Text fw={600}>{span.name}</Text>
      <Text size="sm" c="dimmed">
        {formats.dateTime(span.start)} · {durationText(span.milliseconds)} · {span.key}
        {span.error !== null && ` · error ${span.error}`}
      </Text>
      <JsonTree label="Attributes" value={span.attributes} />
    </div>
  );
}

/** How many spans are open in each part of the time. */
function MiniMap({ buckets }: { buckets: number[] }) {
  const most = Math.max(1, ...buckets);
  const points = buckets.map((count, at) => `${at},${20 - (count / most) * 19}`).join(' ');
  if (buckets.length === 0) return null;
  return (
    <svg
      className={classes.map}
      viewBox={`0 0 ${buckets.length - 1} 20`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <polygon points={`0,20 ${points} ${buckets.length - 1},20`} />
    </svg>
  );
}
