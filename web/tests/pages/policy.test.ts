import { describe, expect, it } from 'vitest';
import { lineDiff } from '@/pages/policy/line-diff';
import { matches, ndjson, nounsOf } from '@/pages/audit/search';
import type { EventRecord } from '@/api/types';

const marks = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${kind[0] ?? ''} ${text}`);

describe('what a revision changed', () => {
  it('is told line by line, in order', () => {
    expect(marks('a\nb\nc', 'a\nx\nc\nd')).toEqual(['s a', 'r b', 'a x', 's c', 'a d']);
  });

  it('is nothing for equal texts and everything for none', () => {
    expect(marks('a\nb', 'a\nb')).toEqual(['s a', 's b']);
    expect(marks('', 'a')).toEqual(['r ', 'a a']);
  });
});

const event = (type: string, data: Record<string, unknown>): EventRecord => ({
  specversion: '1.0',
  id: 'evt_1',
  type: `org.steward.${type}`,
  source: '/projects/prj_1',
  subject: 'run_77',
  time: '2026-11-15T07:00:00Z',
  datacontenttype: 'application/json',
  data,
  cursor: 1,
  who: 'Ada',
  names: {},
});

describe('searching events', () => {
  const done = event('run.done', { title: 'Month end' });

  it('finds every word in the sentence, the type, the subject or the data', () => {
    expect(matches(done, 'month RUN_77', null)).toBe(true);
    expect(matches(done, 'finished', null)).toBe(true);
    expect(matches(done, 'ada month', null)).toBe(true);
    expect(matches(done, 'month quarter', null)).toBe(false);
    expect(matches(done, '', 'approval')).toBe(false);
    expect(matches(done, '', 'run')).toBe(true);
  });

  it('lists what events are about and writes them one per line', () => {
    expect(nounsOf([done, event('approval.approved', {}), done])).toEqual(['approval', 'run']);
    expect(ndjson([{ a: 1 }, { b: '\n' }])).toBe('{"a":1}\n{"b":"\\n"}\n');
  });
});
