import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Past } from '@/api/alerts';
import { createFormats } from '@/components/format';
import { amountOf } from '@/pages/overview/alert-words';
import { PastDrawing } from '@/pages/overview/PastDrawing';
import { emptyProject, renderAlone, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';

function past(change: Partial<Past> = {}): Past {
  return {
    times: 0,
    episodes: [],
    flow_title: null,
    since: '2026-03-01T00:00:00Z',
    values: [0, 1, null, 4],
    limits: [3, 3, 3, 3],
    learned_days: null,
    sentence: 'Failed runs in 24 hours above 3',
    ...change,
  };
}

const rule = {
  id: 'rul_1',
  revision: 3,
  rule: {
    name: 'Failures',
    figure: 'failed_runs',
    flow: null,
    each_flow: false,
    window_hours: 24,
    condition: { kind: 'above', threshold: 3 },
    enabled: true,
    people: [],
    channels: [],
    quiet_hours: null,
  },
  sentence: 'Failed runs in 24 hours above 3',
  flow_title: null,
  author: 'usr_1',
  author_name: 'Ada',
  is_paused: false,
  updated_at: '2026-03-01T10:00:00Z',
  waiting_channels: [],
};

function routes(role: 'viewer' | 'owner', rules: unknown[]) {
  const none = { items: [], next_cursor: null };
  return {
    ...emptyProject(sessionOf(role)),
    [`GET ${PATH}/alerts`]: none,
    [`GET ${PATH}/alert-rules`]: { items: rules, flows: [{ flow: 'chat', title: 'Chat' }] },
    [`GET ${PATH}/members`]: none,
    [`POST ${PATH}/alert-rule-preview`]: past(),
    [`PUT ${PATH}/alert-rules/rul_1`]: { ...rule, waiting_channels: ['mail'] },
  };
}

describe('the past of a rule', () => {
  it('says how often it would have fired, and when', () => {
    const first = '2026-03-01T03:00:00Z';
    const episodes = [{ flow_title: 'Leads', first, last: null, value: 4 }];
    renderAlone(
      <PastDrawing past={past({ times: 1, episodes })} figure="failed_runs" isUnusual={false} />,
    );
    expect(screen.getByText('Would have fired once in the last 28 days.')).toBeVisible();
    expect(screen.getByText(/, Leads: 4$/)).toBeVisible();
  });

  it('leaves a gap where there is no value, and says when it still learns', () => {
    const { container } = renderAlone(
      <PastDrawing past={past({ learned_days: 3 })} figure="spend" isUnusual />,
    );
    const path = container.querySelector('path')?.getAttribute('d') ?? '';
    expect(path.match(/M/g)).toHaveLength(2);
    expect(screen.getByText(/3 of 14 days/)).toBeVisible();
  });
});

it('writes amounts with their unit', () => {
  const formats = createFormats('en', 'UTC');
  expect(amountOf(formats, 'spend', 12.3)).toBe('$12.30');
  expect(amountOf(formats, 'error_rate', 33.333)).toBe('33.3%');
  expect(amountOf(formats, 'approval_age', 2)).toBe('2 h');
  expect(amountOf(formats, 'runs', null)).toBe('none');
});

describe('the tab of alerts', () => {
  it('says what to do where there are no rules', async () => {
    serve(routes('owner', []));
    renderApp('/p/prj_1/overview?tab=alerts');
    expect(await screen.findByText('No alert rules yet')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Add a rule' })).toBeVisible();
  });

  it.each([
    ['chat', 'Chat', '/p/prj_1/overview/flow/chat'],
    [null, 'Whole project', '/p/prj_1/runs?status=failed'],
  ])('leads from an alert to what it is about', async (flow, name, page) => {
    const alert = {
      id: 'ale_1',
      rule_id: 'rul_1',
      name: 'Failures',
      sentence: 'Failed runs in 24 hours above 3',
      figure: 'failed_runs',
      condition: 'above',
      flow,
      flow_title: flow === null ? null : 'Chat',
      state: 'firing',
      value: 4,
      latest: 5,
      limit: 3,
      changes: [],
      run_id: null,
      opened_at: '2026-03-01T10:00:00Z',
      acknowledged_by: null,
      resolved_why: null,
      muted_until: null,
      sends: [],
    };
    const given = { ...routes('owner', [rule]), [`GET ${PATH}/alerts`]: { items: [alert] } };
    serve(given);
    renderApp('/p/prj_1/overview?tab=alerts');
    const open = await screen.findByRole('list', { name: 'Open alerts' });
    expect(within(open).getByRole('link', { name })).toHaveAttribute('href', page);
  });

  it('lets viewers look and change nothing', async () => {
    serve(routes('viewer', [rule]));
    renderApp('/p/prj_1/overview?tab=alerts');
    expect(await screen.findByText('No alert is open')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Add a rule' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Edit Failures' })).toBeNull();
  });

  it('saves a change with the revision that was read', async () => {
    const sent = serve(routes('owner', [rule]));
    renderApp('/p/prj_1/overview?tab=alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit Failures' }));
    const dialog = await screen.findByRole('dialog', { name: 'Edit alert rule' });
    expect(await within(dialog).findByText(/Would not have fired/)).toBeVisible();
    const name = within(dialog).getByRole('textbox', { name: /^Name/ });
    await userEvent.clear(name);
    await userEvent.type(name, 'More failures');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save rule' }));
    await waitFor(() => expect(sent.some(({ method }) => method === 'PUT')).toBe(true));
    const put = sent.find(({ method }) => method === 'PUT');
    expect(put?.headers.get('if-match')).toBe('"3"');
    expect(put?.body).toMatchObject({ name: 'More failures', condition: { threshold: 3 } });
    expect(await screen.findByText(/each message by mail waits in the inbox/)).toBeVisible();
  });
});
