/** The typed HTTP client: adds the CSRF token, turns refusals into ApiError and notices a lost session. */
import { t } from '@lingui/core/macro';
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { ApiError } from './errors';
import type { paths } from './schema';
import type { Answer } from './types';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A 401 here answers a question ("who am I?", "is this password right?") and ends no session. */
const SIGN_IN_PATH = '/api/v1/session';

let csrfToken: string | null = null;
let onSignedOut: () => void = () => undefined;

/** Every session answer carries the token that unsafe requests must send back. */
export function rememberCsrfToken(token: string | null): void {
  csrfToken = token;
}

export function hasCsrfToken(): boolean {
  return csrfToken !== null;
}

/** Registers what happens when the server says that the session is over. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export function reportSignedOut(): void {
  csrfToken = null;
  onSignedOut();
}

const guard: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== null && !SAFE_METHODS.has(request.method)) {
      request.headers.set('X-CSRF-Token', csrfToken);
    }
    return request;
  },
  async onResponse({ response, schemaPath }) {
    if (response.ok) return;
    const error = await ApiError.fromResponse(response);
    // A wrong token means that another session has begun in this browser since the page was opened.
    const isOver = error.status === 401 || error.code === 'csrf';
    // The router leads to setting it up; what was fetched before is no longer open.
    if (error.code === 'second-step-required') globalThis.location.reload();
    if (isOver && !schemaPath.startsWith(SIGN_IN_PATH)) reportSignedOut();
    throw error;
  },
  onError({ request }) {
    // A request that was given up is no failure: the page that asked has gone.
    if (request.signal.aborted) return;
    return ApiError.unreachable();
  },
};

function createApi(): Client<paths> {
  const client = createClient<paths>({
    baseUrl: globalThis.location.origin,
    // Looked up at call time so that a test can put its own in place.
    fetch: (request) => globalThis.fetch(request),
  });
  client.use(guard);
  return client;
}

export const api = createApi();

/** The body of an answer; refusals have been thrown by then. */
export async function bodyOf<Body>(
  answer: Promise<{ data?: Body }>,
): Promise<Answer<NonNullable<Body>>> {
  const { data } = await answer;
  if (data === undefined || data === null) {
    throw new TypeError(t`The server answered without the expected content.`);
  }
  return data as Answer<NonNullable<Body>>;
}

/** A document together with the version that a later change must name in If-Match. */
export interface Versioned<Document> {
  document: Document;
  etag: string;
}

export async function versionedBodyOf<Body>(
  answer: Promise<{ data?: Body; response: Response }>,
): Promise<Versioned<Answer<NonNullable<Body>>>> {
  const { response } = await answer;
  return { document: await bodyOf(answer), etag: response.headers.get('ETag') ?? '*' };
}
