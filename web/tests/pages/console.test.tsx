import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Message } from '@/api/chat';
import { complete } from '@/pages/console/completion';
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
    const [node] = parse(stepYaml('sql', 'SELECT ${x}\nFROM t')) as Record<string, unknown>[];
    expect(node).toMatchObject({ tool: 'execute_sql', arguments: { sql: 'SELECT $${x}\nFROM t' } });
  });

  it('is a transform of the SQL that was run, or of the program', () => {
    const plan = { ...message, query_type: 'plan' as const, sql: 'SELECT 1' };
    expect(transformOf(plan, 't')).toEqual({ target: 't', language: 'sql', code: 'SELECT 1' });
    const python = { ...message, query_type: 'python' as const, query: 'result = 1', sql: null };
    expect(transformOf(python, 't')).toMatchObject({ language: 'python', code: 'result = 1' });
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
