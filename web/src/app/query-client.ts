/** How server state is fetched, kept and retried. */
import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '@/api/errors';

/** A refusal stays a refusal; only what may pass by itself is tried again. */
function shouldRetry(failures: number, error: Error): boolean {
  return failures < 2 && error instanceof ApiError && error.transient;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: shouldRetry,
        // The event stream says what changed; this covers what it does not speak of.
        staleTime: 30_000,
      },
      mutations: { retry: false },
    },
  });
}
