/** What a place shows while something is being computed, or when that failed. */
import type { ReactNode } from 'react';
import type { Insight } from '@/api/long-work';
import { ErrorState } from './ErrorState';
import { LoadingLines } from './LoadingLines';
import { WorkProgress } from './WorkProgress';

interface Props<Result> {
  insight: Insight<Result>;
  children: (result: Result) => ReactNode;
}

export function InsightState<Result>({ insight, children }: Props<Result>) {
  const { result, work, error, retry } = insight;
  if (result !== null) return children(result);
  if (error !== null) return <ErrorState error={error} retry={retry} />;
  if (work) {
    return (
      <WorkProgress doing={`${work.title}: ${work.doing}`} done={work.done} total={work.total} />
    );
  }
  return <LoadingLines />;
}
