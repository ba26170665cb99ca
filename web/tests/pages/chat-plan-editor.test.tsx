import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Exhibit, Plan, Turn, TurnPlan } from '@/api/chat-types';
import {
  emptyProject,
  noContent,
  problem,
  renderApp,
  type Routes,
  serve,
  sessionOf,
} from '../harness';
import { callOf, stepOf, turnOf } from './chat-turns';

const PATH = '/api/v1/projects/prj_1';
const TURNS = `${PATH}/threads/thr_1/turns`;

const plan: Plan = {
  goal: 'Count and clean',
  notes: '',
  steps: ['count', 'clean'].map((id) => ({
    ...{ id, title: `Do ${id}`, agent: 'data-analyst', tools: ['preview'], fallback_tools: [] },
    ...{ arguments: { dataset: 'orders' }, needs: [], skill: null, reason: '', confidence: 0.8 },
  })),
};
const planned = (change: Partial<TurnPlan>): TurnPlan => ({
  ...{ branch: 1, plan, proposed: null, made_by: 'model', model: 'm', problems: [] },
  ...{ repaired: false, said: '', review: { state: 'none', by: null, skip: [] } },
  ...change,
});
const options = {
  agents: [{ name: 'data-analyst', title: 'Analyst', description: '', tools: ['preview'] }],
  tools: [
    {
      ...{ name: 'preview', title: 'Preview', description: 'Shows rows.', risk: 'read' },
      arguments: {
        type: 'object',
        properties: {
          dataset: { type: 'string', maxLength: 200 },
          limit: { type: 'integer', default: 50 },
        },
        required: ['dataset'],
      },
    },
  ],
  skills: {},
};

function project(turns: Turn[], more: Routes = {}): Routes {
  const empty = { items: [], next_cursor: null };
  return {
    ...emptyProject(sessionOf('editor')),
    [`GET ${PATH}/threads`]: empty,
    [`GET ${PATH}/threads/thr_1`]: {
      ...{ id: 'thr_1', title: 'Orders', settings: { rows: 'all', review: 'changes' } },
    },
    [`GET ${TURNS}`]: { items: turns, next_cursor: null },
    [`GET ${PATH}/recipes`]: empty,
    [`GET ${PATH}/suggestions`]: empty,
    'GET /api/v1/about': { version: '1', api: 'v1', features: { models: ['planner'] } },
    ...more,
  };
}

const waiting = turnOf({
  ...{ status: 'waiting_for_approval', ended_at: null },
  waits: [{ key: 'plan/1/review', kind: 'plan', reason: 'It changes data', expires_at: null }],
  steps: plan.steps.map((step) => stepOf({ ...step, status: 'pending' })),
  plans: [planned({ review: { state: 'waiting', by: null, skip: [] } })],
});

describe('a plan under review', () => {
  it('is edited, refused at the step and the field, and sent again', async () => {
    const refused = problem(422, {
      code: 'plan-refused',
      errors: [{ pointer: '/plan/steps/0/arguments/limit', message: 'at least 1' }],
    });
    const answers = [refused, noContent()];
    const sent = serve(
      project([waiting], {
        [`GET ${TURNS}/run_1/stream`]: () => new Promise<Response>(() => undefined),
        [`GET ${TURNS}/run_1/plan-options`]: options,
        [`POST ${TURNS}/run_1/review`]: () => answers.shift(),
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await userEvent.click(await screen.findByRole('button', { name: /Edit the plan/ }));
    const form = await screen.findByRole('form', { name: 'Edit the plan' });
    const save = within(form).getByRole('button', { name: 'Approve the changed plan' });
    expect(save).toBeDisabled();

    await userEvent.click(within(form).getByRole('button', { name: 'Move up: Do clean' }));
    const first = within(form).getByRole('group', { name: 'Step 1: Do clean' });
    const limit = within(first).getByRole('textbox', { name: 'Limit' });
    await userEvent.clear(limit);
    await userEvent.type(limit, '0');
    await userEvent.click(within(form).getByRole('button', { name: 'Remove: Do count' }));
    await userEvent.click(within(form).getByRole('button', { name: 'Add a step' }));
    await userEvent.click(save);
    expect(within(form).getByText('Say what is done.')).toBeVisible();
    await userEvent.click(within(form).getByRole('button', { name: 'Remove: new step' }));

    await userEvent.click(save);
    expect(await within(form).findByText('at least 1')).toBeVisible();
    await userEvent.clear(limit);
    await userEvent.type(limit, '3');
    await userEvent.click(save);
    await waitFor(() => expect(screen.queryByRole('form', { name: 'Edit the plan' })).toBeNull());
    const reviews = sent.filter(({ path }) => path.endsWith('/review')).map(({ body }) => body);
    expect(reviews).toHaveLength(2);
    expect(reviews[1]).toMatchObject({
      decision: 'change',
      plan: {
        goal: 'Count and clean',
        steps: [{ id: 'clean', arguments: { dataset: 'orders', limit: 3 } }],
      },
    });
  });

  it('says what is found on the way, and where; errors stand at the argument', async () => {
    const refused = problem(422, {
      code: 'plan-refused',
      errors: [{ pointer: '/plan/steps/1/open/dataset', message: 'no tool takes it' }],
    });
    const answers = [refused, noContent()];
    const sent = serve(
      project([waiting], {
        [`GET ${TURNS}/run_1/stream`]: () => new Promise<Response>(() => undefined),
        [`GET ${TURNS}/run_1/plan-options`]: options,
        [`POST ${TURNS}/run_1/review`]: () => answers.shift(),
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await userEvent.click(await screen.findByRole('button', { name: /Edit the plan/ }));
    const step = await screen.findByRole('group', { name: 'Step 2: Do clean' });
    const open = within(step).getByRole('group', { name: 'Found on the way' });
    const choose = async (name: RegExp, option: string) => {
      const box = within(open).getByRole('combobox', { name });
      await userEvent.click(box);
      const list = document.getElementById(box.getAttribute('aria-controls') ?? '');
      if (!list) throw new Error('nothing opened');
      await userEvent.click(within(list).getByRole('option', { name: option, hidden: true }));
    };
    await choose(/Leave open/, 'Limit');
    await choose(/Leave open/, 'Dataset');
    expect(within(step).queryByRole('group', { name: 'What Preview is given' })).toBeNull();
    await choose(/Dataset is found in/, 'Do count');
    const remove = within(open).getByRole('button', { name: 'Not found on the way: Limit' });
    await userEvent.click(remove);
    await waitFor(() =>
      expect(within(open).getByRole('combobox', { name: /Leave open/ })).toHaveFocus(),
    );
    expect(within(step).getByLabelText('Limit')).toBeVisible();

    const save = screen.getByRole('button', { name: 'Approve the changed plan' });
    await userEvent.click(save);
    expect(await within(open).findByText('no tool takes it')).toBeVisible();
    await userEvent.click(save);
    await waitFor(() => expect(screen.queryByRole('form', { name: 'Edit the plan' })).toBeNull());
    const body = sent.filter(({ path }) => path.endsWith('/review')).at(-1)?.body;
    expect(body).toMatchObject({
      plan: { steps: [{}, { arguments: {}, open: { dataset: ['count'] }, needs: ['count'] }] },
    });
  });

  it('is narrowed to one step and what it works on', async () => {
    const sent = serve(
      project([waiting], {
        [`GET ${TURNS}/run_1/stream`]: () => new Promise<Response>(() => undefined),
        [`POST ${TURNS}/run_1/review`]: noContent,
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Only this step: Do clean' }));
    await userEvent.click(screen.getByRole('button', { name: /Approve without 1 step/ }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/review'))?.body).toEqual({
        ...{ decision: 'approve', skip: ['count'] },
      }),
    );
  });
});

describe('a plan that somebody changed', () => {
  it('says who, what was changed, and what was taken out', async () => {
    const [count, clean] = plan.steps;
    if (!count || !clean) throw new Error('no steps');
    const changed = { ...count, title: 'Count the orders' };
    const added = { ...clean, id: 'step_3', title: 'Look again' };
    const turn = turnOf({
      status: 'failed',
      steps: [stepOf(changed), stepOf(added)],
      plans: [
        planned({
          plan: { ...plan, steps: [changed, added] },
          proposed: plan,
          review: { state: 'changed', by: 'usr_1', skip: [] },
        }),
      ],
    });
    serve(project([turn]));
    renderApp('/p/prj_1/chat/thr_1');
    const card = await screen.findByRole('region', { name: /^Plan: / });
    expect(await within(card).findByText('Changed by Ada')).toBeVisible();
    expect(within(card).getByText('Added')).toBeVisible();
    await userEvent.click(within(card).getByText('Changed'));
    expect(within(card).getByText('Do count').tagName).toBe('DEL');
    expect(within(card).getByText('Do clean').tagName).toBe('DEL');
  });
});

describe('the results of a conversation', () => {
  const exhibit: Exhibit = {
    ...{ run_id: 'run_1', message: 'How many?', created_at: '2026-01-01T00:00:00Z', branch: 1 },
    ...{ step: 'count', step_title: 'Count them', key: 'p1/count/call/1', tool: 'execute_sql' },
    ...{ kind: 'table', name: '2 rows from 1 dataset', media_type: 'text/csv', size: null },
    ...{ digest: null, columns: ['status', 'n'], rows: [['paid', 3]], rows_in_all: 2 },
    undone: false,
  };
  const turn = turnOf({
    steps: [stepOf({ calls: [callOf({ summary: 'Two rows' })] })],
    plans: [planned({})],
    answer: 'Two',
  });

  it('are listed by kind, downloaded, and lead to their step', async () => {
    serve(
      project([turn], {
        [`GET ${PATH}/threads/thr_1/artifacts`]: { items: [exhibit], next_cursor: null },
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await screen.findByText('Two');
    await userEvent.click(screen.getByRole('button', { name: 'Results of this conversation' }));
    const card = await screen.findByRole('article', { name: '2 rows from 1 dataset' });
    expect(within(card).getByRole('cell', { name: 'paid' })).toBeVisible();
    expect(within(card).getByRole('link', { name: /Download/ })).toHaveAttribute(
      'href',
      `${TURNS}/run_1/table?key=p1%2Fcount%2Fcall%2F1`,
    );
    expect(screen.queryByText('Two rows')).toBeNull();
    await userEvent.click(within(card).getByRole('button', { name: 'Show the step: Count them' }));
    expect(await screen.findByText('Two rows')).toBeVisible();
  });

  it('say so when there are none', async () => {
    serve(
      project([turn], {
        [`GET ${PATH}/threads/thr_1/artifacts`]: { items: [], next_cursor: null },
      }),
    );
    renderApp('/p/prj_1/chat/thr_1?dialog=results');
    expect(await screen.findByText('Nothing yet')).toBeVisible();
  });
});

describe('a new conversation', () => {
  it('says that there is no model and how to add one, and goes on', async () => {
    const models = { asked: [{ role: 'planner', models: [] }] };
    serve(project([], { 'GET /api/v1/projects/prj_1/models': models }));
    renderApp('/p/prj_1/chat');
    const note = await screen.findByRole('note', { name: 'Without a model' });
    expect(note).toHaveTextContent('No language model is set up.');
    expect(note).toHaveTextContent('An admin of this project can add one.');
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeEnabled();
  });

  it('says nothing of it when there is one', async () => {
    serve(project([]));
    renderApp('/p/prj_1/chat');
    await screen.findByRole('heading', { name: 'Ask about your data' });
    expect(screen.queryByRole('note', { name: 'Without a model' })).toBeNull();
  });
});
