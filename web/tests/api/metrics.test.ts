import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Metrics, MetricsFeed, patched } from '@/api/metrics';

class Socket {
  static opened: Socket[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    Socket.opened.push(this);
  }
  say(body: unknown): void {
    this.onmessage?.({ data: JSON.stringify(body) });
  }
  close(): void {
    this.onclose?.();
  }
}

const whole = { op: 'replace', path: '', value: { now: { runs: 1 }, 'a/b': 1 } };

beforeEach(() => {
  Socket.opened = [];
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', Socket);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('patches', () => {
  it('change what they name and nothing else', () => {
    const before = { now: { runs: 1 }, heat: { x: {} }, 'a/b': 1 };
    const after = patched(before, [
      { op: 'add', path: '/now/runs', value: 2 },
      { op: 'add', path: '/a~1b', value: 3 },
    ]) as typeof before;
    expect(after).toEqual({ now: { runs: 2 }, heat: { x: {} }, 'a/b': 3 });
    expect(after.heat).toBe(before.heat);
    expect(before.now.runs).toBe(1);
  });
});

describe('a feed', () => {
  it('applies what is pushed', () => {
    const told: Metrics[] = [];
    const feed = new MetricsFeed('prj_1', 24, (metrics) => told.push(metrics));
    Socket.opened[0]?.say({ number: 5, patch: [whole] });
    Socket.opened[0]?.say({ number: 6, patch: [{ op: 'add', path: '/now/runs', value: 2 }] });
    expect(told.map(({ document }) => document?.now.runs)).toEqual([1, 2]);
    expect(told.every(({ state }) => state === 'pushed')).toBe(true);
    feed.close();
  });

  it('asks from its number on while there is no socket, and opens one again', async () => {
    const asked: string[] = [];
    vi.stubGlobal('fetch', (request: Request) => {
      asked.push(request.url);
      const body = { number: 9, patch: [{ op: 'add', path: '/now/runs', value: 7 }] };
      return Promise.resolve(Response.json(body));
    });
    const told: Metrics[] = [];
    const feed = new MetricsFeed('prj_1', 24, (metrics) => told.push(metrics));
    Socket.opened[0]?.say({ number: 5, patch: [whole] });
    Socket.opened[0]?.close();
    await vi.advanceTimersByTimeAsync(1);
    expect(asked[0]).toContain('since=5');
    expect(told.at(-1)?.document?.now.runs).toBe(7);
    expect(told.at(-1)?.state).toBe('polled');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(Socket.opened).toHaveLength(2);
    expect(Socket.opened[1]?.url).toContain('since=9');
    feed.close();
    await vi.advanceTimersByTimeAsync(200_000);
    expect(Socket.opened).toHaveLength(2);
  });

  it('says why there are no figures', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('offline')));
    const told: Metrics[] = [];
    const feed = new MetricsFeed('prj_1', 24, (metrics) => told.push(metrics));
    Socket.opened[0]?.close();
    await vi.advanceTimersByTimeAsync(1);
    expect(told.at(-1)?.error).not.toBeNull();
    feed.close();
  });
});
