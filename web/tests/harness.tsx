/** What tests share: a stand-in for the server behind fetch, and the app or one component around it. */
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import type { ReactElement } from 'react';
import { vi } from 'vitest';
import { rememberCsrfToken } from '@/api/client';
import type { Role, Session } from '@/api/types';
import { App } from '@/app/App';
import { registry } from '@/app/registry';
import { buildRouter } from '@/app/router';
import { theme } from '@/app/theme';

/** Answers by "METHOD /path"; a function sees the request, anything else is the body of a 200. */
export type Routes = Record<string, unknown>;

export interface Sent {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

export function json(body: unknown, init: ResponseInit = {}): Response {
  const headers = new Headers(init.headers);
  if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
  return new Response(JSON.stringify(body), { ...init, headers });
}

export function problem(status: number, extra: Record<string, unknown> = {}): Response {
  const body = { type: 'about:blank', title: 'Refused', status, detail: '', code: 'x', ...extra };
  return json(body, { status, headers: { 'Content-Type': 'application/problem+json' } });
}

export const noContent = () => new Response(null, { status: 204 });

/** Puts a server in the place of fetch and returns what it was sent. */
export function serve(routes: Routes): Sent[] {
  const sent: Sent[] = [];
  const answer = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = input instanceof Request ? input : new Request(new URL(input, origin()), init);
    const { pathname } = new URL(request.url);
    const text = await request.clone().text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const note = { method: request.method, path: pathname, headers: request.headers, body };
    sent.push(note);
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) return problem(404, { detail: `${pathname} is not served here` });
    const result: unknown =
      typeof route === 'function' ? await (route as (s: Sent) => unknown)(note) : route;
    return result instanceof Response ? result.clone() : json(result);
  };
  vi.stubGlobal('fetch', vi.fn(answer));
  return sent;
}

const origin = () => globalThis.location.origin;

export function sessionOf(role: Role = 'owner', change: Partial<Session> = {}): Session {
  const organisation = { id: 'org_1', name: 'Acme' };
  return {
    user: {
      id: 'usr_1',
      email: 'ada@example.com',
      name: 'Ada',
      locale: 'en-GB',
      has_password: true,
    },
    csrf_token: 'token-of-the-session',
    expires_at: '2030-01-01T00:00:00Z',
    second_step_due: false,
    projects: [{ id: 'prj_1', name: 'Demo', role, is_demo: false, organisation }],
    ...change,
  };
}

const emptyList = { items: [], next_cursor: null };

/** The answers of a project with nothing in it. */
export function emptyProject(session: Session): Routes {
  const at = (rest: string) => `GET /api/v1/projects/prj_1/${rest}`;
  return {
    'GET /api/v1/session': session,
    [at('files')]: emptyList,
    [at('datasets')]: emptyList,
    [at('lineage')]: { nodes: [], edges: [] },
    [at('links')]: emptyList,
    [at('members')]: emptyList,
    [at('invitations')]: emptyList,
    [at('tokens')]: emptyList,
    [at('secrets')]: emptyList,
    [at('events')]: emptyList,
    [at('inbox')]: emptyList,
    [at('runs')]: emptyList,
    [at('schedules')]: emptyList,
    [at('tools')]: emptyList,
    [at('policy/settings')]: { safe_mode: false, tools: {}, revision: 0 },
    [at('notifications')]: { ...emptyList, unread: 0 },
    // Never answers: a test that needs events brings its own stream.
    [at('events/stream')]: () => new Promise<Response>(() => undefined),
  };
}

export function testQueryClient(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}

/** The whole app at an address. */
export function renderApp(address: string) {
  rememberCsrfToken(null);
  const queryClient = testQueryClient();
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = buildRouter(registry, queryClient, history);
  return { router, queryClient, ...render(<App router={router} queryClient={queryClient} />) };
}

/** One component, with theme and server state around it. */
export function renderAlone(element: ReactElement) {
  const queryClient = testQueryClient();
  const wrap = (content: ReactElement) => (
    // jsdom gives everything the size 0, so Mantine would hide dropdowns as detached from their input.
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={queryClient}>{content}</QueryClientProvider>
    </MantineProvider>
  );
  return { queryClient, ...render(wrap(element)) };
}
