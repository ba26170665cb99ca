import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, it, vi } from 'vitest';
import { projectKey, sessionKey } from '@/api/keys';
import { dropFromList, itemsOf } from '@/api/lists';
import { applyEvent, nounOf } from '@/api/live';
import { testQueryClient } from '../harness';

function clientWith(...keys: (readonly unknown[])[]) {
  const client = testQueryClient();
  keys.forEach((key) => client.setQueryData(key, 'fetched'));
  const stale = () => keys.filter((key) => client.getQueryState(key)?.isInvalidated === true);
  return { client, stale };
}

const event = (type: string) => ({ id: '1', type, data: '{}' });

describe('an event', () => {
  it('makes stale what it speaks of, and the event log, in its project only', () => {
    const members = projectKey('prj_1', 'member');
    const log = projectKey('prj_1', 'event');
    const tokens = projectKey('prj_1', 'token');
    const elsewhere = projectKey('prj_2', 'member');
    const { client, stale } = clientWith(members, log, tokens, elsewhere, sessionKey);
    applyEvent(client, 'prj_1', event('org.steward.member.changed'));
    expect(stale()).toEqual([members, log, sessionKey]);
  });

  it('of a kind this version does not know still refreshes queries named after its noun', () => {
    const runs = projectKey('prj_1', 'run', 'run_7');
    const { client, stale } = clientWith(runs, sessionKey);
    applyEvent(client, 'prj_1', event('org.steward.run.step.finished'));
    expect(stale()).toEqual([runs]);
  });

  it('of someone else is left alone', () => {
    expect(nounOf('com.example.member.changed')).toBeNull();
    expect(nounOf('org.steward.secret.changed')).toBe('secret');
  });
});

describe('an event during the first fetch of a query', () => {
  it('fetches it again: the answer under way may be older than the event', async () => {
    const client = testQueryClient();
    const queryKey = projectKey('prj_1', 'run', 'one', 'run_7');
    const answers: ((status: string) => void)[] = [];
    const queryFn = () => new Promise<string>((resolve) => answers.push(resolve));
    const observer = new QueryObserver(client, { queryKey, queryFn });
    const stop = observer.subscribe(() => undefined);
    applyEvent(client, 'prj_1', event('org.steward.run.blocked'));
    answers[0]?.('running');
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.('blocked');
    await vi.waitFor(() => expect(client.getQueryData(queryKey)).toBe('blocked'));
    stop();
  });
});

describe('a fetched list', () => {
  it('loses an item at once, on whichever page it is', () => {
    const client = testQueryClient();
    const key = projectKey('prj_1', 'secret');
    const page = (...names: string[]) => ({
      items: names.map((name) => ({ name })),
      next_cursor: null,
    });
    client.setQueryData(key, { pages: [page('A', 'B'), page('C')], pageParams: [null, 'x'] });
    dropFromList<{ name: string }>(client, key, ({ name }) => name === 'C');
    expect(itemsOf<{ name: string }>(client.getQueryData(key))).toEqual([
      { name: 'A' },
      { name: 'B' },
    ]);
  });
});
