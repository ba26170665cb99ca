import { describe, expect, it } from 'vitest';
import type { Planned, Turn } from '@/api/chat-types';
import { completionAt, mentionsIn, queryKind } from '@/pages/chat/completing';
import { withoutError, withoutRows } from '@/pages/chat/Answer';
import { costText } from '@/pages/chat/cost';
import { counted } from '@/pages/chat/Deviations';
import { figureFinder } from '@/pages/chat/figures';
import { inlineOf, safeAddress } from '@/pages/chat/inline-markdown';
import { type LiveText, withoutPart, withToken } from '@/pages/chat/live-text';
import { blocksOf } from '@/pages/chat/markdown';
import { withNewTurn } from '@/pages/chat/new-turn';
import { completionOf } from '@/pages/chat/plan-facts';
import { shownOf } from '@/pages/chat/results';
import { withEvent } from '@/pages/chat/turn-events';
import { callOf, stepOf, turnOf } from './chat-turns';

describe('the words of an answer', () => {
  const answer =
    'DE has the most: 14.\n\n| a |\n| --- |\n| 1 |\n\n12 of 24 rows are shown.\n\n- one';
  const reading = { status: 'fact' } as Turn['reading'];

  it('leaves rows and choices to their places below', () => {
    expect(withoutRows(answer, { reading })).toBe('DE has the most: 14.\n\n- one');
    const proposal = { status: 'proposal' } as Turn['reading'];
    expect(withoutRows(answer, { reading: proposal })).toBe('DE has the most: 14.');
  });

  it('is whole for other work', () => {
    expect(withoutRows(answer, { reading: null })).toBe(answer);
  });
});

describe('markdown', () => {
  it('knows headings, lists in lists, code, quotes, tables and rules', () => {
    const text =
      '# A\n\n- one\n  - deep\n- two\n\n```sql\nSELECT 1\n```\n> said\n\n---\n|a|b|\n|-|-:|\n|1|2|';
    const blocks = blocksOf(text);
    expect(blocks.map(({ kind }) => kind)).toEqual([
      ...['heading', 'list', 'code', 'quote', 'rule', 'table'],
    ]);
    expect(blocks[1]).toMatchObject({ items: [[{ kind: 'paragraph' }, { kind: 'list' }], [{}]] });
    expect(blocks[2]).toMatchObject({ language: 'sql', text: 'SELECT 1' });
    expect(blocks[5]).toMatchObject({ align: ['start', 'end'] });
  });

  it('keeps an unfinished fence as code, as while it is streamed', () => {
    expect(blocksOf('so:\n```\nSELECT **1')[1]).toMatchObject({ kind: 'code', text: 'SELECT **1' });
  });

  it('keeps HTML as text and never makes a link of a script or a picture of an address', () => {
    expect(inlineOf('<img src=x onerror=alert(1)>')).toEqual([
      { kind: 'text', text: '<img src=x onerror=alert(1)>' },
    ]);
    expect(inlineOf('[x](javascript:alert(1))')).toEqual([{ kind: 'text', text: 'x' }]);
    expect(inlineOf('![x](https://evil.example/?q=secret)')[0]).toMatchObject({ kind: 'link' });
    expect(safeAddress('//evil.example')).toBeNull();
    expect(safeAddress('data:text/html,x')).toBeNull();
    expect(safeAddress('/p/prj_1')).toBe('/p/prj_1');
  });

  it('leaves names with underscores alone and reads emphasis and code', () => {
    expect(inlineOf('crm_customers_2024 is **big** and `a_b`')).toEqual([
      { kind: 'text', text: 'crm_customers_2024 is ' },
      { kind: 'strong', parts: [{ kind: 'text', text: 'big' }] },
      { kind: 'text', text: ' and ' },
      { kind: 'code', text: 'a_b' },
    ]);
  });

  it('reads hostile text in no time', () => {
    const began = performance.now();
    for (const mark of ['*', '_', '[', '`', '~~', '![', '**a', '> ', '- ', '|']) {
      blocksOf(mark.repeat(20_000));
    }
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('live text', () => {
  it('goes on where it is, starts anew at offset 0, and counts whole characters', () => {
    let live: LiveText = {};
    live = withToken(live, 'answer', 0, 'Good 😀');
    live = withToken(live, 'answer', 6, ' day');
    expect(live.answer?.text).toBe('Good 😀 day');
    live = withToken(live, 'answer', 0, 'Good 😀 day');
    expect(live.answer?.text).toBe('Good 😀 day');
    live = withToken(live, 'answer', 6, ' night');
    expect(live.answer?.text).toBe('Good 😀 night');
    expect(withoutPart(live, 'answer')).toEqual({});
  });
});

const planned: Planned = {
  plan: {
    goal: 'Count',
    notes: '',
    steps: [
      {
        ...{ id: 'count', title: 'Count', agent: 'data-analyst', tools: ['execute_sql'] },
        ...{ fallback_tools: [], arguments: {}, needs: [], skill: null, reason: '' },
        confidence: 0.9,
      },
    ],
  },
  ...{ made_by: 'rules', model: null, problems: [], repaired: false, said: '' },
};

describe('events of a turn', () => {
  it('add the plan once, then the call and its result to the step', () => {
    let turn: Turn = turnOf({ status: 'queued' });
    turn = withEvent(turn, 'status', { status: 'running' });
    turn = withEvent(turn, 'plan', { branch: 1, planned });
    turn = withEvent(turn, 'plan', { branch: 1, planned });
    expect(turn.steps.map(({ id, status }) => [id, status])).toEqual([['count', 'pending']]);
    const key = 'p1/count/call/1';
    const call = { key, step: 'count', tool: 'execute_sql', arguments: { sql: 'SELECT 1' } };
    turn = withEvent(turn, 'tool_call', call);
    turn = withEvent(turn, 'tool_call', call);
    expect(turn.steps[0]).toMatchObject({ status: 'running', calls: [{ state: 'running' }] });
    turn = withEvent(turn, 'tool_result', { key, tool: 'execute_sql', summary: '1 row' });
    expect(turn.steps[0]?.calls).toMatchObject([{ state: 'done', summary: '1 row' }]);
    turn = withEvent(turn, 'step', { branch: 1, id: 'count', state: 'done' });
    expect(completionOf(turn.steps)).toBe(100);
  });

  it('change nothing that they do not know', () => {
    const turn = turnOf({});
    expect(withEvent(turn, 'heartbeat', {})).toBe(turn);
    expect(withEvent(turn, 'tool_result', { key: 'p9/x/call/1' })).toBe(turn);
    const whole = turnOf({ answer: 'All of it' });
    expect(withEvent(turn, 'result', { turn: whole })).toBe(whole);
  });
});

describe('a new turn', () => {
  const begun = { runId: 'run_3', threadId: 'thr_1', by: 'usr_1', at: '2026-01-01T00:00:00Z' };
  const path = [turnOf({ run_id: 'run_1' }), turnOf({ run_id: 'run_2', parent: 'run_1' })];

  it('follows the last one', () => {
    const asked = { message: 'more', thread_id: 'thr_1' };
    expect(withNewTurn(path, { asked, ...begun }).map(({ run_id }) => run_id)).toEqual([
      ...['run_1', 'run_2', 'run_3'],
    ]);
  });

  it('takes the place of the one that was edited, and is its sibling', () => {
    const asked = { message: 'other', thread_id: 'thr_1', parent: 'run_1' };
    const edited = withNewTurn(path, { asked, ...begun });
    expect(edited.map(({ run_id }) => run_id)).toEqual(['run_1', 'run_3']);
    expect(edited[1]?.siblings).toEqual(['run_2', 'run_3']);
    const first = withNewTurn(path, { asked: { ...asked, parent: null }, ...begun });
    expect(first.map(({ run_id }) => run_id)).toEqual(['run_3']);
  });
});

describe('figures', () => {
  const find = figureFinder([
    { text: '1,234', source: 'p1/a/call/1' },
    { text: '12', source: null },
  ]);

  it('are found whole, with and without a source', () => {
    expect(find('In all 1,234 of 12.')).toEqual([
      'In all ',
      { text: '1,234', source: 'p1/a/call/1' },
      ' of ',
      { text: '12', source: null },
      '.',
    ]);
  });

  it('are not part of another number', () => {
    expect(find('11,234 and 1,234.5 and 123 and 0.12')).toEqual([
      '11,234 and 1,234.5 and 123 and 0.12',
    ]);
  });
});

describe('completion', () => {
  const known = {
    datasets: [{ name: 'crm_customers' }, { name: 'orders' }],
    recipes: [{ id: 'profile', title: 'Profile everything', description: '' }],
  };
  const labels = (text: string) =>
    completionAt(text, text.length, known)?.options.map(({ label }) => label);

  it('offers datasets after @ and recipes after a first /', () => {
    expect(labels('count @or')).toEqual(['orders']);
    expect(labels('count @')).toEqual(['crm_customers', 'orders']);
    expect(labels('/pro')).toEqual(['/profile']);
    expect(labels('a / b')).toBeUndefined();
    expect(labels('me@orders')).toBeUndefined();
  });

  it('finds what a message names, whole names only', () => {
    expect(mentionsIn('@orders by @crm_customers', ['orders', 'crm_customers'])).toEqual([
      ...['orders', 'crm_customers'],
    ]);
    expect(mentionsIn('@orders_2', ['orders'])).toEqual([]);
  });

  it('knows queries', () => {
    expect(queryKind('sql: SELECT 1')).toBe('SQL');
    expect(queryKind('What is SQL: tell me')).toBeNull();
  });
});

describe('what a turn shows', () => {
  it('is its charts and the last table, of calls that stand', () => {
    const spec = { $schema: 'https://vega.github.io/schema/vega-lite/v6.json' };
    const turn = turnOf({
      steps: [
        stepOf({ branch: 1, calls: [callOf({ key: 'old', value: [{ a: 1 }] })] }),
        stepOf({
          branch: 2,
          calls: [
            callOf({ key: 't1', value: { columns: ['n'], rows: [[1]] } }),
            callOf({ key: 't2', value: { columns: ['m'], rows: [[2]], rows_in_all: 900 } }),
            callOf({ key: 'c', value: { spec, description: 'Bars' } }),
            callOf({ key: 'gone', value: { columns: ['z'], rows: [] }, undone: true }),
          ],
        }),
      ],
    });
    const shown = shownOf(turn);
    expect(shown.charts).toMatchObject([{ key: 'c', description: 'Bars' }]);
    expect(shown.table).toMatchObject({ key: 't2', rowsInAll: 900, table: { columns: ['m'] } });
  });

  it('costs what it used', () => {
    const cost = { usd: null, is_priced: true, tokens: 0, seconds: 0 };
    expect(costText({ ...cost, usd: '0.00213', tokens: 1234, seconds: 2.5 })).toBe(
      '2.5 s · 1,234 tokens · $0.0021',
    );
    expect(costText(cost)).toBe('');
    expect(costText({ ...cost, usd: '0', tokens: 12 })).toBe('12 tokens');
    const unknown = { ...cost, is_priced: false, tokens: 12 };
    expect(costText(unknown)).toBe('12 tokens · price unknown');
    expect(costText({ ...unknown, usd: '12.3' })).toBe('12 tokens · more than $12.30');
  });
});

describe('a turn that failed', () => {
  it('says why once', () => {
    const error = { at: 'p1/a', code: 'plan-violation', message: 'None of it worked.' };
    expect(withoutError('Nothing was done: None of it worked.', error)).toBe('');
    expect(withoutError('Three rows.\n\nIt stopped there: None of it worked.', error)).toBe(
      'Three rows.',
    );
    expect(withoutError('A model said this.', error)).toBe('A model said this.');
    expect(withoutError('None of it worked.', null)).toBe('None of it worked.');
  });

  it('tells of the same deviation once', () => {
    const one = { branch: 1, step: 'a', kind: 'violation', tool: null, why: 'Nothing was called.' };
    const other = { ...one, kind: 'limit' };
    expect(
      counted([one, other, { ...one, branch: 2 }]).map(({ kind, times }) => [kind, times]),
    ).toEqual([
      ['violation', 2],
      ['limit', 1],
    ]);
  });
});
