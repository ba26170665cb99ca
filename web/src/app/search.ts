/** Search parameters are plain strings: a token made of digits must not turn into a number. */

export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      params.set(name, String(value));
    }
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Where to go after signing in: only an address of this app, never another site. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string') return '/';
  try {
    const url = new URL(next, globalThis.location.origin);
    const isOurs = url.origin === globalThis.location.origin && next.startsWith('/');
    const isLoop = url.pathname.startsWith('/sign-in');
    return isOurs && !isLoop ? `${url.pathname}${url.search}${url.hash}` : '/';
  } catch {
    return '/';
  }
}
