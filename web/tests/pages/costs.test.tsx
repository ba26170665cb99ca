import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { emptyProject, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';

const costs = {
  first: '2026-03-01',
  last: '2026-03-30',
  by: 'flow',
  lines: [
    {
      day: '2026-03-30',
      name: 'chat',
      title: 'Chat',
      usd: 12,
      input_tokens: 900,
      output_tokens: 100,
      count: 4,
    },
  ],
  usd: 12,
  forecasts: [{ days: 7, usd: 3, low: 2, high: 5 }],
  history_days: 20,
  is_complete: true,
};

const budget = {
  id: 'bud_1',
  revision: 1,
  kind: 'project',
  name: '',
  title: 'The whole project',
  period: 'month',
  usd: { limit: 10, spent: 9, reserved: 0, left: 1 },
  tokens: { limit: null, spent: 1000, reserved: 0, left: null },
  starts_at: '2026-03-02T00:00:00Z',
  resets_at: '2026-04-01T00:00:00Z',
  expected: { usd: 14, low: 12, high: 17 },
};

function routes(change: Record<string, unknown> = {}) {
  return {
    ...emptyProject(sessionOf('owner')),
    [`GET ${PATH}/costs`]: costs,
    [`GET ${PATH}/budgets`]: { items: [{ ...budget, ...change }], next_cursor: null },
  };
}

describe('the cost explorer', () => {
  it('says what the budget of the project will have spent when it resets', async () => {
    serve(routes());
    renderApp('/p/prj_1/overview?tab=costs');
    expect(
      await screen.findByText(
        /Until the budget of \$10\.00 per month resets on .*: about \$14\.00 \(\$12\.00 to \$17\.00\), more than the budget\./,
      ),
    ).toBeVisible();
    const header = within(screen.getByRole('group', { name: 'Sums' })).getAllByRole('columnheader');
    expect(header.map((each) => each.textContent)).toEqual([
      'Name',
      'Spent',
      'Tokens',
      'Requests and calls',
    ]);
  });

  it('leads from a name to its figures and from a count to the runs', async () => {
    serve(routes());
    renderApp('/p/prj_1/overview?tab=costs');
    const sums = within(await screen.findByRole('group', { name: 'Sums' }));
    expect(sums.getByRole('link', { name: 'Chat' })).toHaveAttribute(
      'href',
      '/p/prj_1/overview/flow/chat',
    );
    expect(sums.getByRole('link', { name: '4: runs of Chat' })).toHaveAttribute(
      'href',
      '/p/prj_1/runs?since=2026-03-01T00%3A00%3A00Z&flow=chat',
    );
  });

  it('draws the budget of the project for each day beside the forecast', async () => {
    serve(routes());
    renderApp('/p/prj_1/overview?tab=costs');
    expect(
      await screen.findByText('Budget: $10.00 per month, which is $0.33 for each day'),
    ).toBeVisible();
    expect(screen.getByText('$12.00 a day')).toBeVisible();
    expect(screen.getByText(/^Forecast to .*2026/)).toBeVisible();
  });

  it('only names a budget far above what is spent', async () => {
    serve(routes({ usd: { ...budget.usd, limit: 3000 } }));
    renderApp('/p/prj_1/overview?tab=costs');
    expect(await screen.findByText(/\$100\.00 for each day \(above this chart\)$/)).toBeVisible();
    expect(screen.getByText('$12.00 a day')).toBeVisible();
  });

  it('says beside a flow what is used of its budget', async () => {
    serve(routes({ kind: 'flow', name: 'chat', period: 'week' }));
    renderApp('/p/prj_1/overview?tab=costs');
    const row = (await screen.findByRole('rowheader', { name: 'Chat' })).closest('tr');
    expect(row).toHaveTextContent('$9.00 of $10.00 this week');
  });
});

describe('the tab of budgets', () => {
  it.each([
    [{ expected: { usd: 9.5, low: null, high: null } }, 'Nearly used up'],
    [{}, 'Will not suffice'],
    [{ usd: { ...budget.usd, spent: 10, left: 0 } }, 'Used up'],
  ])('warns before a budget is used up', async (change, word) => {
    serve(routes(change));
    renderApp('/p/prj_1/overview?tab=budgets');
    expect(await screen.findByText(word)).toBeVisible();
  });

  it('does not warn of a budget with room', async () => {
    serve(routes({ usd: { ...budget.usd, spent: 1, left: 9 }, expected: null }));
    renderApp('/p/prj_1/overview?tab=budgets');
    expect(await screen.findByText('$1.00 of $10.00 spent')).toBeVisible();
    expect(screen.queryByText('Nearly used up')).toBeNull();
  });
});
