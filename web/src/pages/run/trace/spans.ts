/** What tells spans of a trace apart while it grows: positions move, names within a run do not. */
import type { TraceSpan } from '@/api/observe';

export function isSameSpan(a: TraceSpan, b: TraceSpan): boolean {
  return a.run_id === b.run_id && a.key === b.key;
}

/** The step of a flow that a call or an agent belongs to; calls of an agent stand below it anyway. */
export function shownStep({ operation, about }: TraceSpan): string {
  const isStep = operation === 'execute_tool' || operation === 'invoke_agent';
  return isStep && !/\/\d+$/.test(about) ? about : '';
}

/** Whether it has begun and is not over. */
export function isUnderWay(span: TraceSpan): boolean {
  return span.attributes['steward.under_way'] === true;
}
