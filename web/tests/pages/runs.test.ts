import { describe, expect, it } from 'vitest';
import type { JournalEntry, RunDetail } from '@/api/run-types';
import { flowGraph, nodeState } from '@/pages/run/flow-graph';
import { changesIn } from '@/pages/run/ForkDialog';
import { forkFields, typedValue } from '@/pages/run/fork-fields';
import { entryText } from '@/pages/run/LogTab';
import { withEntry } from '@/pages/run/use-run-stream';
import { statusesOf } from '@/pages/runs/run-filter';
import { madeAgain } from '@/pages/schedules/ScheduleTable';

const run = {
  document: {
    nodes: [
      { id: 'look', type: 'tool', tool: 'profile' },
      { id: 'gate', type: 'approval', title: 'May it go on?', needs: ['look'] },
      { id: 'mail', type: 'tool', tool: 'send_email', needs: ['gate.approved', 'gone'] },
    ],
  },
  progress: { done: 1, total: 3, nodes: { look: 'done', gate: 'pending', mail: 'pending' } },
  waits: [{ key: 'gate', kind: 'approval', reason: '', expires_at: null }],
} satisfies Pick<RunDetail, 'document' | 'progress' | 'waits'>;

describe('the graph of a run', () => {
  it('has a box for each node and a line for each need that exists', () => {
    const { nodes, edges } = flowGraph(run);
    expect(nodes.map(({ label, kind }) => [label, kind])).toEqual([
      ['look', 'done'],
      ['May it go on?', 'held'],
      ['mail', 'pending'],
    ]);
    expect(edges).toEqual([
      { id: 'look>gate', from: 'look', to: 'gate' },
      { id: 'gate.approved>mail', from: 'gate', to: 'mail', label: 'approved' },
    ]);
  });

  it('tells a node that waits from another whose name only begins alike', () => {
    const waits = [{ key: 'mail/approval/0', kind: 'approval', reason: '', expires_at: null }];
    expect(nodeState({ progress: null, waits }, 'mail')).toBe('held');
    expect(nodeState({ progress: null, waits }, 'ma')).toBe('pending');
  });
});

const entry = (seq: number, data = {}): JournalEntry => ({
  seq,
  type: 'call.done',
  of: 'look',
  kind: 'step.outcome',
  key: 'look',
  at: '2026-11-15T07:00:00Z',
  data,
  hash: '00',
});

describe('the log of a run', () => {
  it('takes an entry that is sent again after a reconnect only once', () => {
    const entries = [entry(1), entry(2)];
    expect(withEntry(entries, entry(2))).toBe(entries);
    expect(withEntry(entries, entry(3)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('says what went wrong, or what it was about', () => {
    expect(entryText(entry(1, { error: { message: 'No such dataset.' } }))).toBe(
      'No such dataset.',
    );
    expect(entryText(entry(1, { request: { tool: 'profile' } }))).toBe('profile');
    expect(entryText(entry(1, { result: 3 }))).toBe('');
  });
});

describe('filters and forms of runs', () => {
  it('read a group of statuses or one, and nothing unknown', () => {
    expect(statusesOf('waiting')).toEqual(['blocked', 'waiting_for_approval', 'reviewing']);
    expect(statusesOf('failed')).toEqual(['failed']);
    expect(statusesOf('nonsense')).toEqual([]);
    expect(statusesOf(null)).toEqual([]);
  });

  it('take changes of a fork only as JSON pointers into inputs and document', () => {
    expect(changesIn('')).toEqual({});
    expect(changesIn('{"/inputs/limit": 5}')).toEqual({ '/inputs/limit': 5 });
    expect(changesIn('{"/grant/risk": "admin"}')).toContain('/grant/risk');
    expect(changesIn('[1]')).toContain('Write an object');
    expect(changesIn('{')).toContain('not JSON yet');
  });

  it('make a deleted schedule again from what it was', () => {
    const made = {
      name: 'Nightly',
      cron: '0 2 * * *',
      time_zone: 'UTC',
      missed: 'once' as const,
      flow: { format: 1 },
      inputs: { limit: 3 },
      branch: 'main',
      budget: { usd: '5' },
    };
    const stored = {
      ...made,
      id: 'sch_1',
      enabled: true,
      next_at: null,
      next_moments: [],
      last_at: null,
      asked: [],
      created_by: 'usr_1',
      created_at: '2026-11-15T07:00:00Z',
      revision: 4,
    };
    expect(madeAgain(stored)).toEqual(made);
  });
});

describe('values that a fork can change', () => {
  const one = { id: 'one', type: 'code', code: 'SELECT 1' };
  const each = { id: 'each', type: 'map', over: '[1]', body: { nodes: [one] } };
  const run = {
    inputs: { topic: 'refunds', limit: 5, 'a/b': [1] },
    document: { nodes: [{ id: 'look', type: 'tool', arguments: { dataset: 'x' } }, each] },
  } as Parameters<typeof forkFields>[0];

  it('are the inputs and the settings of the step, also within a loop', () => {
    const found = (at: string | null) => forkFields(run, at).map(({ pointer }) => pointer);
    const inputs = ['/inputs/topic', '/inputs/limit', '/inputs/a~1b'];
    expect(found(null)).toEqual(inputs);
    expect(found('look')).toEqual([...inputs, '/document/nodes/0/arguments/dataset']);
    expect(found('each[2]/one~2')).toEqual([...inputs, '/document/nodes/1/body/nodes/0/code']);
  });

  it('keep their type', () => {
    const typed = (text: string) => forkFields(run, null).map((field) => typedValue(field, text));
    expect(typed('7').slice(0, 2)).toEqual([{ value: '7' }, { value: 7 }]);
    expect(typed('seven')[1]).toEqual({ error: 'Enter a value such as 5.' });
  });
});
