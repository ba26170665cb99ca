import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream, type StreamEvent, type StreamOptions } from '@/api/stream';

const encoder = new TextEncoder();

/** A server whose answers the test writes to by hand. */
class StreamServer {
  readonly requests: Headers[] = [];
  private connections: ReadableStreamDefaultController<Uint8Array>[] = [];
  status = 200;
  down = false;

  install(): this {
    vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
      this.requests.push(new Headers(init.headers));
      if (this.down) return Promise.reject(new TypeError('Failed to fetch'));
      if (this.status !== 200) return Promise.resolve(new Response(null, { status: this.status }));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.connections.push(controller);
          init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
        },
      });
      return Promise.resolve(new Response(body));
    });
    return this;
  }

  write(text: string): Promise<void> {
    this.connections.at(-1)?.enqueue(encoder.encode(text));
    return settle();
  }

  drop(): Promise<void> {
    this.connections.at(-1)?.close();
    return settle();
  }
}

/** Lets everything that is due now happen, without moving the clock. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

let server: StreamServer;
let stream: EventStream | undefined;
let seen: StreamEvent[];

function open(options: Partial<StreamOptions> = {}): EventStream {
  stream = new EventStream({ url: '/stream', onEvent: (event) => seen.push(event), ...options });
  return stream;
}

beforeEach(() => {
  vi.useFakeTimers();
  server = new StreamServer().install();
  seen = [];
});

afterEach(() => {
  stream?.close();
  vi.useRealTimers();
});

describe('an event stream', () => {
  it('hands over events, also those that arrive in pieces', async () => {
    open();
    await settle();
    await server.write('id: 4\nevent: org.steward.token.cre');
    expect(seen).toEqual([]);
    await server.write('ated\ndata: {"a":1}\n\n: still here\n\n');
    expect(seen).toEqual([{ id: '4', type: 'org.steward.token.created', data: '{"a":1}' }]);
  });

  it('resumes after the last event it saw', async () => {
    const onOpen = vi.fn();
    open({ onOpen });
    await settle();
    await server.write('id: 41\ndata: x\n\nid: 42\ndata: y\n\n');
    await server.drop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests.map((headers) => headers.get('Last-Event-ID'))).toEqual([null, '42']);
    expect(onOpen.mock.calls).toEqual([[false], [true]]);
  });

  it('waits longer after each failure, and not at all longer after a success', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    server.down = true;
    open();
    await settle();
    await vi.advanceTimersByTimeAsync(500 + 1_000 + 2_000);
    expect(server.requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(3_999);
    expect(server.requests).toHaveLength(4);
    server.down = false;
    await vi.advanceTimersByTimeAsync(1);
    await server.write(': hello\n\n');
    await server.drop();
    await vi.advanceTimersByTimeAsync(500);
    expect(server.requests).toHaveLength(6);
  });

  it('gives up when the server refuses it for good', async () => {
    const onRefused = vi.fn();
    server.status = 401;
    open({ onRefused });
    await settle();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(onRefused).toHaveBeenCalledExactlyOnceWith(401);
    expect(server.requests).toHaveLength(1);
  });

  it('does not give up on a server error', async () => {
    server.status = 503;
    open();
    await settle();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests.length).toBeGreaterThan(1);
  });

  it('connects anew when even heartbeats stay away', async () => {
    open();
    await settle();
    await server.write('id: 9\ndata: x\n\n');
    await vi.advanceTimersByTimeAsync(44_000);
    await server.write(': still here\n\n');
    await vi.advanceTimersByTimeAsync(44_000);
    expect(server.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.get('Last-Event-ID')).toBe('9');
  });

  it('lets go while paused and picks up where it stopped', async () => {
    const paused = open();
    await settle();
    await server.write('id: 5\ndata: x\n\n');
    paused.pause();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(server.requests).toHaveLength(1);
    paused.resume();
    await settle();
    expect(server.requests[1]?.get('Last-Event-ID')).toBe('5');
    await server.write('id: 6\ndata: y\n\n');
    expect(seen.map(({ id }) => id)).toEqual(['5', '6']);
  });

  it('stays closed once closed', async () => {
    const closed = open();
    await settle();
    closed.close();
    closed.resume();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.requests).toHaveLength(1);
  });
});
