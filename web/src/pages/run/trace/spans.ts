/** What tells spans of a trace apart while it grows: positions move, names within a run do not. */
import type { TraceSpan } from '@/api/observe';

export function isSameSpan(a: TraceSpan, b: TraceSpan): boolean {
  return a.run_id === b.run_id && a.key === b.key;
}

/** Whether it has begun and is not over. */
export function isUnderWay(span: TraceSpan): boolean {
  return span.attributes['steward.under_way'] === true;
}
