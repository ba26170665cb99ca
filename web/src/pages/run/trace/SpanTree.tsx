/** The spans in view as a tree with a timeline; everything can be done by keyboard. */
import { t } from '@lingui/core/macro';
import { ChevronDown, ChevronRight } from 'lucide-react';
import {
  type KeyboardEvent,
  memo,
  type UIEvent,
  useCallback,
  useEffect,
  useId,
  useRef,
} from 'react';
import type { Trace, TraceSpan } from '@/api/observe';
import { durationText } from '@/components/duration';
import { type Folds, indexOf, toggled } from './folds';
import { isSameSpan, isUnderWay, shownStep } from './spans';
import { ROW, ROW_NAMES, type TraceWindows, VIEW_ROWS } from './use-trace-windows';
import classes from './trace.module.css';

interface Props {
  windows: TraceWindows;
  whole: Trace;
  folds: Folds;
  isFiltered: boolean;
  chosen: TraceSpan | null;
  onChoose: (span: TraceSpan) => void;
  onFolds: (folds: Folds) => void;
  onError: (direction: 1 | -1) => void;
  onSearch: () => void;
}

export function SpanTree(props: Props) {
  const { windows, whole, folds, isFiltered, chosen, onChoose, onFolds } = props;
  const { first, last, spanAt, setTop, asked } = windows;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const begin = Date.parse(whole.start);
  const chosenRow = useChosenRow(props);

  useEffect(() => {
    if (asked && scroller.current) bringIntoView(scroller.current, asked.index);
  }, [asked]);

  const move = (to: number) => {
    const index = Math.max(0, Math.min(whole.total - 1, to));
    if (scroller.current) bringIntoView(scroller.current, index);
    const span = spanAt(index);
    if (span) onChoose(span);
    else windows.show(index);
  };
  const fold = useCallback(
    (span: TraceSpan) => {
      if (!isFiltered && span.size > 0) onFolds(toggled(folds, span.position, span.size));
    },
    [isFiltered, folds, onFolds],
  );
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(chosenRow + 1),
    ArrowUp: () => move(chosenRow - 1),
    PageDown: () => move(chosenRow + VIEW_ROWS - 1),
    PageUp: () => move(chosenRow - VIEW_ROWS + 1),
    Home: () => move(0),
    End: () => move(whole.total - 1),
    ArrowLeft: () => chosen && !folds.has(chosen.position) && fold(chosen),
    ArrowRight: () => chosen && folds.has(chosen.position) && fold(chosen),
    e: () => props.onError(1),
    E: () => props.onError(-1),
    '/': props.onSearch,
  };
  const press = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      role="tree"
      aria-label={t`Spans`}
      aria-activedescendant={chosen ? `${id}-${chosen.position}` : undefined}
      tabIndex={0}
      style={{ height: Math.min(whole.total, VIEW_ROWS) * ROW + 2 }}
      onScroll={(event: UIEvent<HTMLDivElement>) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={press}
    >
      <div role="presentation" className={classes.rows} style={{ height: whole.total * ROW }}>
        {rows.map((index) => {
          const span = spanAt(index);
          return (
            <div
              key={index % ROW_NAMES}
              role="presentation"
              className={classes.row}
              style={{ transform: `translateY(${index * ROW}px)` }}
            >
              {span ? (
                <SpanRow
                  id={`${id}-${span.position}`}
                  span={span}
                  index={index}
                  total={whole.total}
                  begin={begin}
                  whole={whole.milliseconds}
                  isFolded={!isFiltered && folds.has(span.position)}
                  isChosen={chosen !== null && isSameSpan(chosen, span)}
                  onChoose={onChoose}
                  onFold={fold}
                />
              ) : (
                <span className={classes.pending} data-hole>
                  …
                </span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The row of the chosen span; before the first while there is none, or while the filter hides it. */
function useChosenRow({ windows, folds, isFiltered, chosen }: Props): number {
  if (chosen === null) return -1;
  if (!isFiltered) return indexOf(chosen.position, folds);
  for (let index = windows.first; index < windows.last; index += 1) {
    const span = windows.spanAt(index);
    if (span && isSameSpan(span, chosen)) return index;
  }
  return -1;
}

function bringIntoView(scroller: HTMLElement, index: number) {
  const top = index * ROW;
  const { scrollTop, clientHeight } = scroller;
  if (top < scrollTop) scroller.scrollTop = top;
  else if (top + ROW > scrollTop + clientHeight) scroller.scrollTop = top + ROW - clientHeight;
}

interface RowProps {
  id: string;
  span: TraceSpan;
  index: number;
  total: number;
  begin: number;
  whole: number;
  isFolded: boolean;
  isChosen: boolean;
  onChoose: (span: TraceSpan) => void;
  onFold: (span: TraceSpan) => void;
}

const SpanRow = memo(function SpanRow({
  id,
  span,
  index,
  total,
  begin,
  whole,
  isFolded,
  isChosen,
  onChoose,
  onFold,
}: RowProps) {
  const length = Math.max(whole, 1);
  const left = ((Date.parse(span.start) - begin) / length) * 100;
  const isOpen = isUnderWay(span);
  const width = isOpen ? 100 - Math.min(left, 99.5) : (span.milliseconds / length) * 100;
  const Fold = isFolded ? ChevronRight : ChevronDown;
  return (
    // The tree takes the keys for all of its rows.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      className={classes.span}
      aria-level={span.depth + 1}
      aria-posinset={index + 1}
      aria-setsize={total}
      aria-selected={isChosen}
      aria-expanded={span.size > 0 ? !isFolded : undefined}
      onClick={() => onChoose(span)}
    >
      <span className={classes.name} style={{ paddingInlineStart: `${span.depth * 0.875}rem` }}>
        <span
          className={classes.fold}
          aria-hidden
          onClick={(event) => {
            event.stopPropagation();
            onFold(span);
          }}
        >
          {span.size > 0 && <Fold size={13} />}
        </span>
        {span.name}
        {shownStep(span) && <span className={classes.size}> {shownStep(span)}</span>}
        {span.size > 0 && <span className={classes.size}> {span.size.toLocaleString('en')}</span>}
      </span>
      <span className={classes.track} aria-hidden>
        <span
          className={classes.bar}
          data-bad={span.error !== null || undefined}
          data-open={isOpen || undefined}
          style={{ insetInlineStart: `${Math.min(left, 99.5)}%`, width: `max(2px, ${width}%)` }}
        />
      </span>
      <span className={classes.length} data-bad={span.error !== null || undefined}>
        {isOpen ? t`under way` : (span.error ?? durationText(span.milliseconds))}
      </span>
    </div>
  );
});
