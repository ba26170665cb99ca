/** Puts the app together: theme, server state, formats and router. */
import { MantineProvider } from '@mantine/core';
import { type QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { sessionQuery } from '@/api/session';
import { createFormats, FormatsContext, resolveLocale } from '@/components/format';
import { Toasts } from '@/components/Toasts';
import type { AppRouter } from './router';
import { cssVariables, theme } from './theme';

export function App({ router, queryClient }: { router: AppRouter; queryClient: QueryClient }) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <UserFormats>
          <RouterProvider router={router} />
        </UserFormats>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The user's own choice of formats, or the browser's while nobody is signed in. */
function UserFormats({ children }: { children: ReactNode }) {
  const { data: locale } = useQuery({
    ...sessionQuery,
    // The router fetches the session; this only listens.
    enabled: false,
    select: (session) => session?.user.locale ?? null,
  });
  const formats = useMemo(() => createFormats(resolveLocale(locale, navigator.language)), [locale]);
  return <FormatsContext value={formats}>{children}</FormatsContext>;
}
