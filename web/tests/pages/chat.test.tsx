import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Thread, Turn, TurnPlan } from '@/api/chat-types';
import {
  emptyProject,
  json,
  noContent,
  renderApp,
  type Routes,
  serve,
  sessionOf,
} from '../harness';
import { callOf, stepOf, turnOf } from './chat-turns';

const PATH = '/api/v1/projects/prj_1';
const TURNS = `${PATH}/threads/thr_1/turns`;

const thread: Thread = {
  ...{ id: 'thr_1', title: 'Orders', branch: 'main', head: 'run_1', turns: 1 },
  settings: { rows: 'all', review: 'changes' },
  ...{ created_by: 'usr_1', created_at: '2026-01-01T00:00:00Z' },
  updated_at: '2026-01-01T00:00:00Z',
};

const plan: TurnPlan = {
  branch: 1,
  plan: {
    goal: 'Count and clean',
    notes: '',
    steps: ['count', 'clean'].map((id) => ({
      ...{ id, title: `Do ${id}`, agent: 'data-analyst', tools: [id], fallback_tools: [] },
      ...{ arguments: {}, needs: [], skill: null, reason: `Because ${id}`, confidence: 0.8 },
    })),
  },
  ...{ made_by: 'rules', model: null, problems: [], repaired: false },
  ...{ said: 'No model is configured.', proposed: null },
  review: { state: 'none', by: null, skip: [] },
};

/** A stream that says what the test tells it to. */
function stage() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
  });
  const encoder = new TextEncoder();
  return {
    response: () => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }),
    say: (kind: string, data: unknown, id?: string) => {
      const first = id === undefined ? '' : `id: ${id}\n`;
      const frame = `${first}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
      controller?.enqueue(encoder.encode(frame));
    },
    cut: () => controller?.error(new TypeError('gone')),
    end: () => controller?.close(),
  };
}

function project(turns: () => Turn[], more: Routes = {}): Routes {
  const empty = { items: [], next_cursor: null };
  return {
    ...emptyProject(sessionOf('editor')),
    [`GET ${PATH}/threads`]: { items: [thread], next_cursor: null },
    [`GET ${PATH}/threads/thr_1`]: thread,
    [`GET ${TURNS}`]: () => ({ items: turns(), next_cursor: null }),
    [`GET ${TURNS}/run_1`]: () => turns()[0],
    [`GET ${PATH}/recipes`]: empty,
    [`GET ${PATH}/suggestions`]: empty,
    'GET /api/v1/about': { version: '1', api: 'v1', features: { models: [] } },
    ...more,
  };
}

const box = () => screen.findByRole('textbox', { name: 'Message' });

describe('the chat', () => {
  it('sends a message, shows what is written as it comes, and the answer in the end', async () => {
    const talk = stage();
    let known: Turn[] = [turnOf({ status: 'running', ended_at: null })];
    const sent = serve(
      project(() => known, { [`POST ${PATH}/chat/stream`]: () => talk.response() }),
    );
    const { router } = renderApp('/p/prj_1/chat');
    await userEvent.type(await box(), 'How many orders?{Enter}');
    talk.say('status', { run_id: 'run_1', thread_id: 'thr_1', status: 'running' }, 'run_1.1');
    await waitFor(() => expect(router.state.location.pathname).toBe('/p/prj_1/chat/thr_1'));
    talk.say('token', { part: 'answer', offset: 0, text: 'There are **1,23' });
    talk.say('token', { part: 'answer', offset: 16, text: '4** orders' });
    expect(await screen.findByText('1,234')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Stop' })).toBeVisible();
    known = [
      turnOf({ answer: 'There are **1,234** orders', figures: [{ text: '1,234', source: null }] }),
    ];
    talk.say('result', { turn: known[0] }, 'run_1.9');
    talk.say('done', { run_id: 'run_1', status: 'done' });
    talk.end();
    expect(await screen.findByText(/One figure is in no result/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    expect(sent.find(({ path }) => path.endsWith('/chat/stream'))?.body).toMatchObject({
      message: 'How many orders?',
      thread_id: null,
    });
  });

  it('stays over, whatever arrives late from before the end', async () => {
    const talk = stage();
    const running = turnOf({ run_id: 'run_8', status: 'running', ended_at: null });
    const over = turnOf({ run_id: 'run_8', answer: 'Three orders' });
    let isOver = false;
    const late: (() => void)[] = [];
    /** The first answer of each address says how things stood when it was asked for, much later. */
    const slowly = (body: (turn: Turn) => unknown) => {
      let isFirst = true;
      return () => {
        if (!isFirst || isOver) return body(isOver ? over : running);
        isFirst = false;
        return new Promise<unknown>((resolve) => late.push(() => resolve(body(running))));
      };
    };
    serve(
      project(() => [], {
        [`POST ${PATH}/chat/stream`]: () => talk.response(),
        [`GET ${TURNS}`]: slowly((turn) => ({ items: [turn], next_cursor: null })),
        [`GET ${TURNS}/run_8`]: slowly((turn) => turn),
      }),
    );
    renderApp('/p/prj_1/chat');
    await userEvent.type(await box(), 'How many orders?{Enter}');
    talk.say('status', { run_id: 'run_8', thread_id: 'thr_1', status: 'running' }, 'run_8.1');
    await waitFor(() => expect(late).toHaveLength(2));
    isOver = true;
    talk.say('result', { turn: over }, 'run_8.9');
    talk.say('done', { run_id: 'run_8', status: 'done' });
    talk.end();
    expect(await screen.findByRole('button', { name: 'Send' })).toBeVisible();
    const stops: Element[] = [];
    const watch = new MutationObserver(() => stops.push(...screen.queryAllByText('Stop')));
    watch.observe(document.body, { childList: true, subtree: true });
    late.forEach((answer) => answer());
    await userEvent.type(await box(), 'And now?');
    watch.disconnect();
    expect(stops).toEqual([]);
  });

  it('goes on where the connection broke, after the last event it heard', async () => {
    const [first, second] = [stage(), stage()];
    let known: Turn[] = [turnOf({ status: 'running', ended_at: null })];
    const sent = serve(
      project(() => known, {
        [`POST ${PATH}/chat/stream`]: () => first.response(),
        [`GET ${TURNS}/run_1/stream`]: () => second.response(),
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    known = [];
    await userEvent.type(await box(), 'More{Enter}');
    known = [turnOf({ status: 'running', ended_at: null })];
    first.say('status', { run_id: 'run_1', thread_id: 'thr_1', status: 'running' }, 'run_1.4');
    first.cut();
    const stream = await waitFor(() => {
      const found = sent.find(({ path }) => path.endsWith('/run_1/stream'));
      expect(found).toBeDefined();
      return found;
    });
    expect(stream?.headers.get('Last-Event-ID')).toBe('run_1.4');
    second.say('token', { part: 'answer', offset: 0, text: 'It went on' });
    expect(await screen.findByText('It went on')).toBeVisible();
    known = [turnOf({ answer: 'It went on' })];
    second.say('done', { run_id: 'run_1', status: 'done' });
  });

  it('asks about a plan, and leaves out the steps that a person does not want', async () => {
    const waits = [
      { key: 'plan/1/review', kind: 'plan', reason: 'It changes data', expires_at: null },
    ];
    const inInbox = {
      ...{ kind: 'plan', run_id: 'run_1', run_title: 'x', key: 'plan/1/review', title: 'x' },
      ...{ asked_at: '2026-01-01T00:00:00Z', expires_at: null, approval: null },
      request: { kind: 'plan', reason: 'It changes data', plan: plan.plan },
    };
    const review = { state: 'waiting' as const, by: null, skip: [] };
    const steps = plan.plan.steps.map((step) => stepOf({ ...step, status: 'pending' }));
    const waiting = turnOf({
      ...{ status: 'waiting_for_approval', waits, ended_at: null, steps },
      plans: [{ ...plan, review }],
    });
    const sent = serve(
      project(() => [waiting], {
        [`GET ${TURNS}/run_1/stream`]: () => new Promise<Response>(() => undefined),
        [`POST ${TURNS}/run_1/review`]: noContent,
        [`GET ${PATH}/inbox`]: { items: [inInbox], next_cursor: null },
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    const card = await screen.findByRole('region', { name: /^Plan: / });
    expect(within(card).getByText('Planned by rules')).toBeVisible();
    const note = await screen.findByRole('note', { name: 'Without a model' });
    expect(note).toHaveTextContent('No model is configured.');
    await userEvent.click(within(card).getByRole('switch', { name: 'Do it: Do clean' }));
    await userEvent.click(within(card).getByRole('button', { name: 'Approve without 1 step' }));
    // The inbox has it too; here it is asked once, with its steps.
    expect(screen.queryByRole('button', { name: /Let it run/ })).toBeNull();
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/review'))?.body).toEqual({
        ...{ decision: 'approve', skip: ['clean'] },
      }),
    );
  });

  it('edits the last message with the arrow up, as another version of it', async () => {
    const talk = stage();
    const sent = serve(
      project(() => [turnOf({ answer: 'Some' })], {
        [`POST ${PATH}/chat/stream`]: () => talk.response(),
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await screen.findByText('Some');
    await userEvent.type(await box(), '{ArrowUp}');
    await waitFor(async () => expect(await box()).toHaveValue('How many orders?'));
    await userEvent.type(await box(), ' In 2024{Enter}');
    expect(sent.find(({ path }) => path.endsWith('/chat/stream'))?.body).toMatchObject({
      ...{ message: 'How many orders? In 2024', parent: null, thread_id: 'thr_1' },
    });
    talk.end();
  });

  it('switches between the versions of a message', async () => {
    const second = turnOf({ run_id: 'run_2', siblings: ['run_1', 'run_2'], answer: 'Two' });
    serve(project(() => [second]));
    const { router } = renderApp('/p/prj_1/chat/thr_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Earlier version' }));
    await waitFor(() => expect(router.state.location.search).toEqual({ leaf: 'run_1' }));
  });

  it('undoes what a turn changed, the last change first, and offers to redo it', async () => {
    const step = (id: string, undone: boolean) =>
      stepOf({ id, calls: [callOf({ key: `p1/${id}/call/1`, commits: ['c'], undone })] });
    let isUndone = false;
    const turn = () =>
      turnOf({
        ...{ answer: 'Cleaned', undoable: !isUndone, plans: [plan] },
        steps: [step('count', isUndone), step('clean', isUndone)],
      });
    const action = (id: string) => ({
      ...{ key: `p1/${id}/call/1`, tool: 'clean', summary: id, at: '2026-01-01T00:00:00Z' },
      ...{ commits: ['c'], way: 'version', undone: isUndone },
    });
    const sent = serve(
      project(() => [turn()], {
        [`GET ${PATH}/runs/run_1/actions`]: () => ({
          items: [action('count'), action('clean')],
          next_cursor: null,
        }),
        [`GET ${PATH}/runs/run_1/undo-plan`]: { dependants: [], blocked: [], action: {} },
        [`POST ${PATH}/runs/run_1/undo`]: ({ body }: { body: { key: string } }) => {
          isUndone = body.key.includes('count');
          return json(action('x'));
        },
      }),
    );
    renderApp('/p/prj_1/chat/thr_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo what was changed' }));
    expect(await screen.findByRole('button', { name: 'Redo what was changed' })).toBeVisible();
    const undone = sent.filter(({ path }) => path.endsWith('/undo'));
    expect(undone.map(({ body }) => (body as { key: string }).key)).toEqual([
      ...['p1/clean/call/1', 'p1/count/call/1'],
    ]);
    expect(await screen.findByText('Undone: How many orders?')).toBeVisible();
  });

  it('deletes a conversation at once and brings it back', async () => {
    const sent = serve(
      project(() => [], {
        [`DELETE ${PATH}/threads/thr_1`]: noContent,
        [`POST ${PATH}/threads/thr_1/restore`]: thread,
      }),
    );
    renderApp('/p/prj_1/chat');
    await userEvent.click(await screen.findByRole('button', { name: 'More about Orders' }));
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(sent.some(({ path }) => path.endsWith('/restore'))).toBe(true));
  });

  it('says why a turn failed', async () => {
    const error = { code: 'plan-rejected', message: 'The plan was not approved.' };
    serve(project(() => [turnOf({ status: 'failed', error })]));
    renderApp('/p/prj_1/chat/thr_1');
    expect(await screen.findByText('The plan was not approved.')).toBeVisible();
  });
});
