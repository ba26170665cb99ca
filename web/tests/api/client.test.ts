import { beforeEach, describe, expect, it, vi } from 'vitest';
import { api, bodyOf, rememberCsrfToken, versionedBodyOf, whenSignedOut } from '@/api/client';
import { ApiError, explain, fieldMessages } from '@/api/errors';
import { json, noContent, problem, serve } from '../harness';

const signedOut = vi.fn();

beforeEach(() => {
  signedOut.mockReset();
  whenSignedOut(signedOut);
  rememberCsrfToken('secret-of-this-session');
});

const projects = () => api.GET('/api/v1/projects');
const failure = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('The call was expected to fail.');
    },
    (error: unknown) => error as ApiError,
  );

describe('the CSRF token', () => {
  it('goes with requests that change something, and with no others', async () => {
    const sent = serve({
      'GET /api/v1/projects': { items: [], next_cursor: null },
      'POST /api/v1/projects': { id: 'prj_1' },
      'DELETE /api/v1/session': noContent,
    });
    await projects();
    await api.POST('/api/v1/projects', { body: { name: 'A' } });
    await api.DELETE('/api/v1/session');
    expect(sent.map(({ headers }) => headers.get('X-CSRF-Token'))).toEqual([
      null,
      'secret-of-this-session',
      'secret-of-this-session',
    ]);
  });
});

describe('refusals', () => {
  it('become ApiErrors that keep what the problem document says', async () => {
    serve({
      'POST /api/v1/projects': problem(422, {
        title: 'Not valid',
        detail: 'Give the project another name.',
        code: 'invalid',
        instance: 'req_7',
        errors: [{ pointer: '/name', message: 'is taken' }],
      }),
    });
    const error = await failure(api.POST('/api/v1/projects', { body: { name: 'A' } }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, code: 'invalid', requestId: 'req_7' });
    expect(explain(error)).toMatchObject({
      title: 'Not valid',
      detail: 'Give the project another name.',
    });
    expect(fieldMessages(error)).toEqual({ name: 'is taken' });
    expect(error.transient).toBe(false);
  });

  it('of an address say so, and not which pattern it should match', () => {
    const refused = (pointer: string) =>
      new ApiError({
        status: 422,
        code: 'invalid',
        title: 'Not valid',
        detail: 'should match ^pbk_',
        requestId: null,
        retryAfterSeconds: null,
        fields: [{ pointer, message: 'should match ^pbk_' }],
      });
    expect(explain(refused('/path/playbook_id')).title).toBe('There is nothing at this address');
    expect(explain(refused('/body/playbook_id')).detail).toBe('should match ^pbk_');
  });

  it('of a proxy, which are no problem documents, become ApiErrors too', async () => {
    serve({
      'GET /api/v1/projects': () =>
        new Response('<h1>Bad gateway</h1>', {
          status: 502,
          headers: { 'Content-Type': 'text/html' },
        }),
    });
    expect(await failure(projects())).toMatchObject({ status: 502, transient: true });
  });

  it('for going too fast say how long to wait', async () => {
    const refusal = problem(429);
    refusal.headers.set('Retry-After', '12');
    serve({ 'GET /api/v1/projects': refusal });
    expect(await failure(projects())).toMatchObject({ retryAfterSeconds: 12 });
  });

  it('never arrive when the server is away: that is an error of its own', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await failure(projects())).toMatchObject({ status: 0, code: 'unreachable' });
  });

  it('do not include requests that were given up', async () => {
    const reason = new Error('given up');
    vi.stubGlobal('fetch', () => Promise.reject(reason));
    const signal = AbortSignal.abort();
    expect(await failure(api.GET('/api/v1/projects', { signal }))).toBe(reason);
  });
});

describe('a lost session', () => {
  it('is reported once a request is answered with 401', async () => {
    serve({ 'GET /api/v1/projects': problem(401) });
    await failure(projects());
    expect(signedOut).toHaveBeenCalledOnce();
  });

  it('is not what a wrong password means', async () => {
    serve({ 'POST /api/v1/session': problem(401) });
    await failure(api.POST('/api/v1/session', { body: { email: 'a@b', password: 'x' } }));
    expect(signedOut).not.toHaveBeenCalled();
  });

  it('is what a refused CSRF token means: another session has begun in this browser', async () => {
    serve({ 'POST /api/v1/projects': problem(403, { code: 'csrf' }) });
    await failure(api.POST('/api/v1/projects', { body: { name: 'A' } }));
    expect(signedOut).toHaveBeenCalledOnce();
  });

  it('is not what a missing permission means', async () => {
    serve({ 'POST /api/v1/projects': problem(403, { code: 'denied' }) });
    await failure(api.POST('/api/v1/projects', { body: { name: 'A' } }));
    expect(signedOut).not.toHaveBeenCalled();
  });
});

describe('bodies', () => {
  it('come with the version that a later change must name', async () => {
    serve({ 'GET /api/v1/me': json({ name: 'Ada' }, { headers: { ETag: '"7"' } }) });
    const me = await versionedBodyOf(api.GET('/api/v1/me'));
    expect(me).toMatchObject({ etag: '"7"', document: { name: 'Ada' } });
  });

  it('that are missing are an error, not an undefined', async () => {
    serve({ 'GET /api/v1/me': noContent });
    await expect(bodyOf(api.GET('/api/v1/me'))).rejects.toThrow('without the expected content');
  });
});
