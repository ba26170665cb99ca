import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Message } from '@/api/chat';
import { complete } from '@/pages/console/completion';
import { given, namesIn, parametersOf, rowsFor, rowsOf } from '@/pages/console/parameters';
import { stepYaml, transformOf } from '@/pages/console/step';
import { emptyProject, json, problem, renderApp, serve, sessionOf } from '../harness';

const tables = [
  { name: 'orders', columns: [{ name: 'amount', type: 'DOUBLE' }] },
  { name: 'Big Ones', columns: [{ name: 'Größe', type: 'BIGINT' }] },
];
const labels = (text: string) =>
  complete(text, text.length, 'sql', tables)?.suggestions.map(({ text: written }) => written);

describe('completion', () => {
  it('knows datasets, columns and words, and quotes names that need it', () => {
    expect(labels('SELECT am')).toEqual(['amount']);
    expect(labels('SELECT * FROM o')?.[0]).toBe('orders');
    expect(labels('SELECT * FROM big')).toEqual(['"Big Ones"']);
    expect(labels('SELECT * FROM orders wh')).toEqual(['WHERE', 'WHEN']);
    expect(labels('SELECT ')).toBeUndefined();
  });

  it('offers the columns of the table before the dot, by name or alias', () => {
    expect(labels('SELECT orders.')).toEqual(['amount']);
    const text = 'SELECT b. FROM "Big Ones" b';
    const found = complete(text, 'SELECT b.'.length, 'sql', tables);
    expect(found?.suggestions.map(({ label }) => label)).toEqual(['Größe']);
    expect(found?.from).toBe('SELECT b.'.length);
  });
});

const message: Message = {
  run_id: 'run_1',
  thread_id: 'thr_1',
  question: 'SQL: SELECT 7 AS n',
  query_type: 'sql',
  query: 'SELECT 7 AS n',
  status: 'done',
  summary: '1 rows from 1 dataset',
  plan: null,
  sql: 'SELECT 7 AS n',
  code: null,
  result: { columns: [{ name: 'n', type: 'INTEGER' }], rows: [[7]], truncated: null },
  artifacts: [],
  error: null,
  created_by: 'usr_1',
  created_at: '2026-01-01T00:00:00Z',
  started_at: null,
  ended_at: null,
  seconds: 0.25,
};

describe('a query made into something else', () => {
  it('is a step in which nothing is an expression', () => {
    const text = stepYaml('sql', 'SELECT ${x}\nFROM t', { a: '${y}', b: 2 });
    const [node] = parse(text) as Record<string, unknown>[];
    expect(node).toMatchObject({
      tool: 'execute_sql',
      arguments: { sql: 'SELECT $${x}\nFROM t', parameters: { a: '$${y}', b: 2 } },
    });
    expect(stepYaml('sql', 'SELECT 1', {})).not.toContain('parameters');
  });

  it('is a transform of the SQL that was run, or of the program', () => {
    const plan = { ...message, query_type: 'plan' as const, sql: 'SELECT 1' };
    expect(transformOf(plan, 't', {})).toMatchObject({ language: 'sql', code: 'SELECT 1' });
    const python = { ...message, query_type: 'python' as const, query: 'result = 1', sql: null };
    expect(transformOf(python, 't', { a: 1 })).toEqual({
      target: 't',
      language: 'python',
      code: 'result = 1',
      parameters: { a: 1 },
    });
    expect(transformOf({ ...python, result: { result: 1 } }, 't', {})).toBeNull();
  });
});

describe('parameters', () => {
  it('are the names that a query asks for, not what only looks like one', () => {
    const sql = `SELECT '$no', "$no", $a, $b -- $no
      /* $no */ FROM t WHERE x = $a AND y = $q$ $no $q$ AND z = $$ $no $$`;
    expect(namesIn('sql', sql)).toEqual(['a', 'b']);
    expect(namesIn('python', `parameters["a"] + parameters.get('b', 1)`)).toEqual(['a', 'b']);
    expect(namesIn('plan', 'filter: $a')).toEqual([]);
  });

  it('have a row each, in the order of the query, before what was written besides', () => {
    const written = [
      { name: 'more', value: '1' },
      { name: 'b', value: '2' },
    ];
    const rows = rowsFor('sql', 'SELECT $a, $b', written);
    expect(rows.map(({ name, value }) => [name, value])).toEqual([
      ['a', ''],
      ['b', '2'],
      ['more', '1'],
    ]);
    expect(rows.map(({ isAsked }) => isAsked)).toEqual([true, true, false]);
  });

  it('mean what they read as, and are written so that they mean it again', () => {
    const texts = { n: '7', f: '1.5', t: 'true', z: 'null', s: 'DE', q: '"7"', none: ' ' };
    const rows = Object.entries(texts).map(([name, value]) => ({ name, value }));
    const meant = { n: 7, f: 1.5, t: true, z: null, s: 'DE', q: '7' };
    expect(given(rows)).toEqual(meant);
    expect(given([{ name: 'big', value: '9007199254740993' }])).toEqual({
      big: '9007199254740993',
    });
    const odd = { ...meant, empty: '', spaced: ' x ' };
    expect(given(rowsOf(odd))).toEqual(odd);
  });

  it('are found again in the run that they were given to', () => {
    const node = { id: 'call', type: 'tool', arguments: { parameters: { a: '$${x}', b: 1 } } };
    expect(parametersOf({ document: { nodes: [node] } })).toEqual({ a: '${x}', b: 1 });
    expect(parametersOf({ document: null })).toEqual({});
  });
});

const PATH = '/api/v1/projects/prj_1';

function stream(...events: [string, unknown][]): Response {
  const text = events.map(([kind, data]) => `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  return new Response(text.join(''), { headers: { 'Content-Type': 'text/event-stream' } });
}

const answer = {
  thread_id: 'thr_1',
  run_id: 'run_1',
  status: 'done',
  answer: message.summary,
  message,
};

describe('the console', () => {
  beforeEach(() => localStorage.clear());

  it('runs what was written, shows the rows and keeps the question', async () => {
    const sent = serve({
      ...emptyProject(sessionOf('operator')),
      [`POST ${PATH}/chat/stream`]: () =>
        stream(['status', { status: 'running' }], ['result', answer], ['done', {}]),
      [`GET ${PATH}/threads/thr_1/messages`]: { items: [message], next_cursor: null },
      [`POST ${PATH}/runs`]: () => json({ id: 'run_2' }, { status: 201 }),
    });
    renderApp('/p/prj_1/console');
    await userEvent.type(await screen.findByRole('textbox', { name: /^SQL/ }), 'SELECT 7 AS n');
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
    expect(await screen.findByRole('cell', { name: '7' })).toBeVisible();
    const asked = sent.find(({ path }) => path.endsWith('/chat/stream'))?.body;
    expect(asked).toMatchObject({ message: 'SQL:\nSELECT 7 AS n', limit: 200 });
    expect(await screen.findByText('SQL: SELECT 7 AS n')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Save as dataset' }));
    await userEvent.type(await screen.findByLabelText('Name'), 'sevens');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(sent.find((s) => s.method === 'POST' && s.path.endsWith('/runs'))?.body).toMatchObject(
        { tool: 'transform', arguments: { target: 'sevens', language: 'sql' } },
      ),
    );
  });

  it('writes names of tables, keeps queries, and shows the rows that were left out', async () => {
    const result = { ...(message.result as object), truncated: 'The first 200 rows.' };
    const cut = { ...answer, message: { ...message, result } };
    const orders = { ...tables[1], format: 'native', versions: [] };
    const kept: object[] = [];
    localStorage.setItem(
      'steward-queries-prj_1',
      JSON.stringify([{ name: 'Old', kind: 'sql', query: 'SELECT 0' }]),
    );
    const sent = serve({
      ...emptyProject(sessionOf('operator')),
      [`GET ${PATH}/datasets`]: { items: [orders], next_cursor: null },
      [`GET ${PATH}/saved-queries`]: () => json({ items: kept, next_cursor: null }),
      [`PUT ${PATH}/saved-queries`]: ({ body }: { body: unknown }) => {
        kept.push({ ...(body as object), id: `qry_${kept.length}` });
        return json(kept.at(-1));
      },
      [`POST ${PATH}/chat/stream`]: () => stream(['result', cut], ['done', {}]),
      [`GET ${PATH}/threads/thr_1/messages`]: { items: [message], next_cursor: null },
    });
    renderApp('/p/prj_1/console');
    const editor = await screen.findByRole('textbox', { name: /^SQL/ });
    await userEvent.type(editor, 'SELECT * FROM');
    await userEvent.click(await screen.findByText('Big Ones'));
    await userEvent.click(await screen.findByText('Insert Big Ones'));
    expect(editor).toHaveValue('SELECT * FROM "Big Ones"');
    await userEvent.click(screen.getByRole('button', { name: 'Save this query' }));
    await userEvent.type(screen.getByLabelText('Name of the query'), 'All{Enter}');
    await userEvent.clear(editor);
    await userEvent.click(await screen.findByRole('button', { name: 'All' }));
    expect(editor).toHaveValue('SELECT * FROM "Big Ones"');
    // What an earlier version kept in the browser is on the server now.
    expect(screen.getByRole('button', { name: 'Old' })).toBeVisible();
    expect(localStorage.getItem('steward-queries-prj_1')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Run' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Show all' }));
    await waitFor(() =>
      expect(
        sent
          .filter(({ path }) => path.endsWith('/chat/stream'))
          .map(({ body }) => (body as { limit: number }).limit),
      ).toEqual([200, 10_000]),
    );
  });

  it('asks for the values that a query names, sends them and saves with them', async () => {
    const asking = { ...message, query: 'SELECT $n AS n', sql: 'SELECT $n AS n' };
    const sent = serve({
      ...emptyProject(sessionOf('operator')),
      [`POST ${PATH}/chat/stream`]: () => stream(['result', { ...answer, message: asking }]),
      [`GET ${PATH}/threads/thr_1/messages`]: { items: [asking], next_cursor: null },
      [`POST ${PATH}/runs`]: () => json({ id: 'run_2' }, { status: 201 }),
    });
    renderApp('/p/prj_1/console');
    await userEvent.type(await screen.findByRole('textbox', { name: /^SQL/ }), 'SELECT $n AS n');
    await userEvent.type(screen.getByRole('textbox', { name: 'Value of n' }), '7');
    await userEvent.click(screen.getByRole('button', { name: 'Run' }));
    expect(await screen.findByRole('cell', { name: '7' })).toBeVisible();
    const asked = sent.find(({ path }) => path.endsWith('/chat/stream'))?.body;
    expect(asked).toMatchObject({ parameters: { n: 7 } });
    await userEvent.click(screen.getByRole('button', { name: 'Save as dataset' }));
    await userEvent.type(await screen.findByLabelText('Name'), 'sevens');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(sent.find((s) => s.method === 'POST' && s.path.endsWith('/runs'))?.body).toMatchObject(
        { arguments: { target: 'sevens', parameters: { n: 7 } } },
      ),
    );
  });

  it('says why a query was refused', async () => {
    serve({
      ...emptyProject(sessionOf('operator')),
      [`POST ${PATH}/chat/stream`]: () => problem(422, { detail: 'There is nothing to run.' }),
    });
    renderApp('/p/prj_1/console');
    await userEvent.type(await screen.findByRole('textbox', { name: /^SQL/ }), 'x');
    await userEvent.click(screen.getByRole('button', { name: 'Run' }));
    expect(await screen.findByText('There is nothing to run.')).toBeVisible();
  });
});
