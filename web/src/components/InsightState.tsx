/** What a place shows while something is being computed, or when that failed. */
import type { ReactNode } from 'react';
import type { Insight } from '@/api/tasks';
import { ErrorState } from './ErrorState';
import { LoadingLines } from './LoadingLines';
import { TaskProgress } from './TaskProgress';

interface Props<Result> {
  insight: Insight<Result>;
  children: (result: Result) => ReactNode;
}

export function InsightState<Result>({ insight, children }: Props<Result>) {
  const { result, task, error, retry } = insight;
  if (result !== null) return children(result);
  if (error !== null) return <ErrorState error={error} retry={retry} />;
  if (task) {
    return (
      <TaskProgress doing={`${task.title}: ${task.doing}`} done={task.done} total={task.total} />
    );
  }
  return <LoadingLines />;
}
