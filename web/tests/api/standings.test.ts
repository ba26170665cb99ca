import { QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import { runQuery, standingsQuery } from '@/api/runs';
import { serve, testQueryClient } from '../harness';

afterEach(() => void vi.useRealTimers());

it('looks at the nodes of a run until the run is over, and not after', async () => {
  vi.useFakeTimers();
  const looks = [
    { items: [{ node: 'sql', state: 'running' }], is_over: false },
    { items: [{ node: 'sql', state: 'done' }], is_over: true },
  ];
  const sent = serve({
    'GET /api/v1/projects/prj_1/runs/run_1/nodes': () => looks[Math.min(sent.length, 2) - 1],
  });
  const observer = new QueryObserver(testQueryClient(), standingsQuery('prj_1', 'run_1'));
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(100);
  expect(observer.getCurrentResult().data?.get('sql')?.state).toBe('running');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(observer.getCurrentResult().data?.get('sql')?.state).toBe('done');
  expect(sent).toHaveLength(2);
  leave();
});

it('looks at a run until it is over, also when no event says that it moved', async () => {
  vi.useFakeTimers();
  const statuses = ['running', 'blocked', 'done'];
  const sent = serve({
    'GET /api/v1/projects/prj_1/runs/run_1': () => ({
      status: statuses[Math.min(sent.length, 3) - 1],
    }),
  });
  const observer = new QueryObserver(testQueryClient(), runQuery('prj_1', 'run_1'));
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(observer.getCurrentResult().data?.status).toBe('blocked');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(observer.getCurrentResult().data?.status).toBe('done');
  expect(sent).toHaveLength(3);
  leave();
});
