import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { sendFile, type Transport } from '@/api/uploads';

const refusal = (status: number, code: string) =>
  new ApiError({
    status,
    code,
    title: 'Refused',
    detail: '',
    requestId: null,
    retryAfterSeconds: null,
    fields: [],
  });

/** A server that keeps what arrives; `fail` may break a request after some of its bytes. */
function server(fail: (attempt: number, size: number) => number | ApiError | null = () => null) {
  let kept = '';
  let attempt = 0;
  const state = () => ({
    id: 'upload_1',
    name: 'a.csv',
    size: null,
    offset: kept.length,
    finished: false,
    touched: '2026-01-01T00:00:00Z',
  });
  const transport: Transport = {
    start: vi.fn(() => Promise.resolve(state())),
    read: vi.fn(() => Promise.resolve(state())),
    append: vi.fn(async (_id: string, offset: number, part: Blob) => {
      attempt += 1;
      if (offset !== kept.length) throw refusal(409, 'upload-offset');
      const text = await part.text();
      const failure = fail(attempt, text.length);
      if (failure instanceof ApiError) throw failure;
      kept += failure === null ? text : text.slice(0, failure);
      if (failure !== null) throw ApiError.unreachable();
      return state();
    }),
  };
  return { transport, kept: () => kept };
}

const file = new File(['0123456789'], 'a.csv');
const noWait = () => Promise.resolve();
const signal = () => new AbortController().signal;

describe('sending a file', () => {
  it('goes in parts and says how far it is', async () => {
    const { transport, kept } = server();
    const progress: number[] = [];
    const onProgress = (sent: number) => progress.push(sent);
    await sendFile(file, { transport, signal: signal(), onProgress, partBytes: 4 });
    expect(kept()).toBe('0123456789');
    expect(progress).toEqual([0, 4, 8, 10]);
  });

  it('goes on where a broken connection left it, without sending anything twice', async () => {
    const { transport, kept } = server((attempt) => (attempt === 2 ? 3 : null));
    await sendFile(file, { transport, signal: signal(), wait: noWait, partBytes: 4 });
    expect(kept()).toBe('0123456789');
    expect(vi.mocked(transport.append).mock.calls.map(([, offset]) => offset)).toEqual([0, 4, 7]);
  });

  it('gives up after many failures in a row, and can be taken up again', async () => {
    let isDown = true;
    const { transport, kept } = server(() => (isDown ? 0 : null));
    const started: string[] = [];
    const onStarted = (id: string) => started.push(id);
    const sending = { transport, signal: signal(), wait: noWait, onStarted };
    await expect(sendFile(file, sending)).rejects.toThrow(/Check your connection/);
    isDown = false;
    await sendFile(file, { ...sending, uploadId: started[0] });
    expect(kept()).toBe('0123456789');
    expect(transport.start).toHaveBeenCalledOnce();
  });

  it('takes a refusal for what it is', async () => {
    const { transport } = server(() => refusal(413, 'too-large'));
    const sending = { transport, signal: signal(), wait: noWait };
    await expect(sendFile(file, sending)).rejects.toMatchObject({ code: 'too-large' });
    expect(transport.append).toHaveBeenCalledOnce();
  });

  it('stops when it is told to', async () => {
    const { transport } = server();
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    const sending = { transport, signal: stop.signal, onProgress, partBytes: 4 };
    await expect(sendFile(file, sending)).rejects.toThrow();
    expect(transport.append).not.toHaveBeenCalled();
  });
});
