import { InfiniteQueryObserver } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import { shadowComparisonsQuery } from '@/api/deployments';
import { serve, testQueryClient } from '../harness';

afterEach(() => void vi.useRealTimers());

it('looks at comparisons until the last one is made, also after the shadow has ended', async () => {
  vi.useFakeTimers();
  const states = ['running', 'compared'];
  const sent = serve({
    'GET /api/v1/projects/prj_1/playbooks/pbk_1/shadow/comparisons': () => ({
      items: [{ live_id: 'run_1', state: states[Math.min(sent.length, 2) - 1] }],
      next_cursor: null,
    }),
  });
  const options = shadowComparisonsQuery('prj_1', 'pbk_1', false);
  const observer = new InfiniteQueryObserver(testQueryClient(), options);
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(observer.getCurrentResult().data?.pages[0]?.items[0]?.state).toBe('compared');
  expect(sent).toHaveLength(2);
  leave();
});
