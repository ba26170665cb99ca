import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderHook } from '@testing-library/react';
import type { PropsWithChildren } from 'react';
import { expect, it, vi } from 'vitest';
import { useRunStream } from '@/pages/run/use-run-stream';

it('asks once more for what a run did when it is over', () => {
  vi.stubGlobal(
    'fetch',
    vi.fn(() => new Promise(() => undefined)),
  );
  const client = new QueryClient();
  const asked = vi.spyOn(client, 'invalidateQueries');
  const around = ({ children }: PropsWithChildren) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { rerender } = renderHook(({ isLive }) => useRunStream('prj', 'run_1', isLive), {
    wrapper: around,
    initialProps: { isLive: true },
  });
  expect(asked).not.toHaveBeenCalled();
  rerender({ isLive: false });
  const parts = asked.mock.calls.map(([filters]) => filters?.queryKey?.at(-2));
  expect(parts).toEqual(['one', 'calls', 'actions', 'journal', 'trace']);
});
