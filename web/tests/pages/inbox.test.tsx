import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Sent } from '../harness';
import { emptyProject, noContent, problem, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const HASH = 'ab'.repeat(32);
const soon = () => new Date(Date.now() + 3_600_000).toISOString();

const clean = {
  name: 'clean',
  title: 'Clean a dataset',
  description: '',
  risk: 'write',
  effects: ['writes'],
  arguments: {
    type: 'object',
    properties: { name: { type: 'string' }, limit: { type: 'integer' } },
    required: ['name'],
  },
  has_dry_run: true,
  undo: 'none',
};

function approval(change: Record<string, unknown> = {}) {
  return {
    id: 'apr_1',
    run_id: 'run_1',
    wait_key: 'call/approval/0',
    tool: 'clean',
    title: 'Trims 53 cells',
    risk: 'write',
    body: { tool: 'clean', arguments: { name: 'customers', limit: 3 }, destination: null },
    body_hash: HASH,
    asked_body: null,
    preview: { summary: '53 cells change', details: {} },
    provenance: { trusted: true, untrusted_arguments: false, sources: [], arguments: {} },
    rules: [{ level: 'built-in', id: 'safe-mode', effect: 'permit', reason: 'Safe mode is on.' }],
    approvers: [],
    reason: 'Safe mode is on.',
    extent: 'single',
    batch: [],
    status: 'pending',
    requested_by: 'usr_1',
    requested_at: new Date().toISOString(),
    expires_at: soon(),
    delegated_to: null,
    decided_by: null,
    decided_at: null,
    decision_reason: null,
    ...change,
  };
}

function waiting(change: Record<string, unknown> = {}) {
  return {
    kind: 'approval',
    run_id: 'run_1',
    run_title: 'Trim',
    key: 'call/approval/0',
    title: 'Trims 53 cells',
    asked_at: new Date().toISOString(),
    expires_at: soon(),
    request: null,
    approval: null,
    ...change,
  };
}

const question = waiting({
  kind: 'question',
  run_id: 'run_2',
  key: 'call/answer',
  title: 'question: Which currency?',
  expires_at: null,
  request: { question: 'Which currency?', answer: { type: 'string' } },
});

function open(items: unknown[], routes: Record<string, unknown> = {}) {
  const sent = serve({
    ...emptyProject(sessionOf('owner')),
    [`GET ${PATH}/inbox`]: { items, next_cursor: null },
    [`GET ${PATH}/tools`]: { items: [clean], next_cursor: null },
    ...routes,
  });
  renderApp('/p/prj_1/inbox');
  return sent;
}

const decisions = (sent: Sent[]) =>
  sent.filter(({ path }) => path.endsWith('/decision')).map(({ body }) => body);

const DECIDE = `POST ${PATH}/approvals/apr_1/decision`;

describe('the inbox', () => {
  it('counts in the navigation and approves exactly what was seen, by key', async () => {
    const sent = open([waiting({ approval: approval() }), question], {
      [DECIDE]: approval({ status: 'approved' }),
    });
    expect(await screen.findByText('53 cells change')).toBeInTheDocument();
    // One in the navigation, one in the bar of small screens.
    expect(screen.getAllByRole('link', { name: 'Inbox, 2 waiting' })).toHaveLength(2);
    expect(screen.getByTitle(HASH)).toHaveTextContent(HASH.slice(0, 12));
    await userEvent.keyboard('a');
    expect(await screen.findByText('Approved')).toBeInTheDocument();
    expect(decisions(sent)).toEqual([
      { approve: true, body_hash: HASH, reason: '', extent: 'single' },
    ]);
  });

  it('rejects only with a reason', async () => {
    const sent = open([waiting({ approval: approval() })], {
      [DECIDE]: approval({ status: 'rejected' }),
    });
    await screen.findByText('53 cells change');
    await userEvent.keyboard('r');
    const reason = await screen.findByLabelText(/Why not/);
    await userEvent.click(screen.getByRole('button', { name: 'Reject' }));
    expect(screen.getByText('Say why you reject it.')).toBeInTheDocument();
    expect(decisions(sent)).toEqual([]);
    await userEvent.type(reason, 'Not before the audit');
    await userEvent.click(screen.getByRole('button', { name: 'Reject' }));
    expect(await screen.findByText('Rejected')).toBeInTheDocument();
    expect(decisions(sent)).toMatchObject([{ approve: false, reason: 'Not before the audit' }]);
  });

  it('approves with changes that were made in the form', async () => {
    const sent = open([waiting({ approval: approval() })], {
      [DECIDE]: approval({ status: 'approved' }),
    });
    await screen.findByText('53 cells change');
    await userEvent.keyboard('e');
    const name = await screen.findByLabelText(/^Name/);
    await userEvent.clear(name);
    await userEvent.type(name, 'invoices');
    await userEvent.click(screen.getByRole('button', { name: 'Approve with these changes' }));
    expect(await screen.findByText('Approved')).toBeInTheDocument();
    expect(decisions(sent)).toMatchObject([
      { approve: true, arguments: { name: 'invoices', limit: 3 } },
    ]);
  });

  it('says plainly that somebody else decided first', async () => {
    const detail = 'Somebody else decided this a moment ago.';
    open([waiting({ approval: approval() })], { [DECIDE]: problem(409, { detail }) });
    await screen.findByText('53 cells change');
    await userEvent.click(screen.getByRole('button', { name: /Approve once/ }));
    expect(await screen.findByText(detail)).toBeInTheDocument();
    expect(screen.getByText('Your answer was not taken')).toBeInTheDocument();
  });

  it('lets a message be taken back in the last seconds', async () => {
    const sending = approval({
      risk: 'external_send',
      title: 'Mail to the boss',
      preview: { summary: '53 cells change', details: {}, irreversible: 'Mail stays sent.' },
    });
    const sent = open([waiting({ approval: sending })], {
      [DECIDE]: { ...sending, status: 'approved' },
      [`POST ${PATH}/runs/run_1/take-back`]: noContent,
    });
    await screen.findByText('53 cells change');
    expect(screen.getByText('Mail stays sent.')).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: /Approve once/ }));
    const banner = await screen.findByRole('status', { name: 'Going out' });
    expect(banner).toHaveTextContent(/Mail to the boss goes out in \d s/);
    await userEvent.click(within(banner).getByRole('button', { name: 'Undo' }));
    expect(await screen.findByText('Taken back: it is not sent')).toBeInTheDocument();
    expect(sent.find(({ path }) => path.endsWith('/take-back'))?.body).toEqual({ key: 'call' });
  });

  it('offers no approval for the session when foreign content is in play, and marks it', async () => {
    const provenance = {
      trusted: false,
      untrusted_arguments: true,
      sources: ['mail'],
      arguments: { name: { sources: ['mail from outside'], trusted: false } },
    };
    open([waiting({ approval: approval({ provenance }) })]);
    expect(await screen.findByText('Carries untrusted content')).toBeInTheDocument();
    expect(screen.getByText(/from mail from outside/)).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: /for this session/ })).not.toBeInTheDocument();
  });

  it('says what is doubtful, beside the general reason', async () => {
    const doubts = ['“eve@evil.example” (to) comes from the text of body of “Your parcel”.'];
    const arguments_ = { to: { sources: ['from:look', 'model'], trusted: false } };
    const provenance = {
      ...{ trusted: false, untrusted_arguments: true, sources: [], arguments: arguments_ },
      doubts,
    };
    open([waiting({ approval: approval({ provenance }) })]);
    const list = await screen.findByRole('list', { name: 'What is doubtful' });
    expect(list).toHaveTextContent(doubts[0] ?? '');
    expect(screen.getAllByText('Safe mode is on.')[0]).toBeInTheDocument();
    expect(screen.getByText(/from step look, a model's own words/)).toBeInTheDocument();
  });

  it('moves by keys and answers a question with its form', async () => {
    const sent = open([waiting({ approval: approval() }), question], {
      [`POST ${PATH}/runs/run_2/answers`]: noContent,
    });
    await screen.findByText('53 cells change');
    await userEvent.keyboard('j');
    await userEvent.type(await screen.findByLabelText(/^Answer/), 'EUR');
    await userEvent.click(screen.getByRole('button', { name: 'Answer' }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/answers'))?.body).toEqual({
        key: 'call/answer',
        answer: 'EUR',
      }),
    );
  });

  it('raises a limit that does not suffice', async () => {
    const breach = {
      limit: 'rows',
      message: 'Too few rows.',
      asked: '90',
      left: '10',
      total: '10',
    };
    const item = waiting({ kind: 'budget', request: { breach }, expires_at: null });
    const sent = open([item], { [`POST ${PATH}/runs/run_1/answers`]: noContent });
    await userEvent.click(await screen.findByRole('button', { name: 'Raise the limit' }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/answers'))?.body).toEqual({
        key: 'call/approval/0',
        answer: { decision: 'raise', limits: { rows: '100' } },
      }),
    );
  });

  it('says what a list of items may need before its first one', async () => {
    const message = 'Letters may need $4.04 for 40 items. $0.90 of $1.00 are left.';
    const breach = { limit: 'usd', message, asked: '4.037', left: '0.9', total: '1', parts: 40 };
    const item = waiting({ kind: 'budget', request: { breach }, expires_at: null });
    const sent = open([item], { [`POST ${PATH}/runs/run_1/answers`]: noContent });
    expect(await screen.findByText(message)).toBeVisible();
    expect(screen.getByText('Expected for all items').nextElementSibling).toHaveTextContent(
      '$4.04',
    );
    expect(screen.getByText('Used or reserved').nextElementSibling).toHaveTextContent('$0.10');
    // What was used before, and what the list needs: rounded up to whole cents.
    await userEvent.click(screen.getByRole('button', { name: 'Raise the limit' }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/answers'))?.body).toMatchObject({
        answer: { decision: 'raise', limits: { usd: '4.14' } },
      }),
    );
  });
});
