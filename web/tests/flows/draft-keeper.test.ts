/** A draft is kept as it is changed: the newest alone, one request at a time, never over another window's. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DraftKeeper, type Keeping, type Shelf } from '@/flows/draft-keeper';

class Faster extends Error {}

/** What the server does: one draft with a version, kept by whoever has seen the last one. */
class Server {
  draft: string | null = null;
  version = 0;
  asked: string[] = [];
  broken = false;

  shelf(): Shelf<string> {
    return {
      keep: (draft, seen) => {
        this.asked.push(`keep ${draft}`);
        if (this.broken) return Promise.reject(new Error('offline'));
        if (seen !== this.version) return Promise.reject(new Faster());
        this.draft = draft;
        this.version += 1;
        return Promise.resolve(this.version);
      },
      discard: (seen) => {
        this.asked.push('discard');
        if (seen >= this.version) [this.draft, this.version] = [null, 0];
        return Promise.resolve();
      },
      look: () => Promise.resolve(this.version),
      isElsewhere: (error) => error instanceof Faster,
    };
  }
}

function opened(server: Server, version = server.version) {
  const shown: Keeping[] = [];
  const keeper = new DraftKeeper(server.shelf(), version, (keeping) => shown.push(keeping));
  return { keeper, state: () => shown.at(-1)?.state };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('what is changed in a row is kept once, as it is in the end', async () => {
  const server = new Server();
  const { keeper, state } = opened(server);
  for (const text of ['a', 'ab', 'abc']) keeper.want(text);
  expect(state()).toBe('pending');
  await vi.runAllTimersAsync();
  expect([server.draft, server.asked, state()]).toEqual(['abc', ['keep abc'], 'kept']);
});

test('what is changed while a request is under way follows it', async () => {
  const server = new Server();
  const { keeper, state } = opened(server);
  keeper.want('one');
  const sent = keeper.flush();
  keeper.want('two');
  await keeper.flush(); // the page is left
  await sent;
  expect([server.draft, server.version, state()]).toEqual(['two', 2, 'kept']);
});

test('a draft goes when all is saved, and nothing is asked where there was none', async () => {
  const server = new Server();
  const { keeper, state } = opened(server);
  keeper.want(null);
  await vi.runAllTimersAsync();
  expect(server.asked).toEqual([]);
  keeper.want('one');
  await vi.runAllTimersAsync();
  keeper.want(null);
  await vi.runAllTimersAsync();
  expect([server.draft, state()]).toEqual([null, 'none']);
});

test('another window is told and never replaced; once that draft is gone, this one keeps again', async () => {
  const server = new Server();
  const [first, second] = [opened(server), opened(server)];
  first.keeper.want('first');
  await vi.runAllTimersAsync();
  second.keeper.want('second');
  await vi.runAllTimersAsync();
  expect([server.draft, second.state()]).toEqual(['first', 'elsewhere']);
  second.keeper.want(null); // saved
  await vi.runAllTimersAsync();
  expect([server.draft, second.state()]).toEqual(['first', 'elsewhere']);
  first.keeper.want(null);
  await vi.runAllTimersAsync();
  second.keeper.want(null);
  await vi.runAllTimersAsync();
  second.keeper.want('again');
  await vi.runAllTimersAsync();
  expect([server.draft, second.state()]).toEqual(['again', 'kept']);
});

test('a failure is told, and the next change tries again', async () => {
  const server = new Server();
  const { keeper, state } = opened(server);
  server.broken = true;
  keeper.want('one');
  await vi.runAllTimersAsync();
  expect(state()).toBe('failed');
  server.broken = false;
  keeper.want('two');
  await vi.runAllTimersAsync();
  expect([server.draft, state()]).toEqual(['two', 'kept']);
});
