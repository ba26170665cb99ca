import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { emptyProject, json, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const AT = '2026-01-01T00:00:00Z';

const run = {
  ...{ id: 'run_1', title: 'Clean up', program: 'flow', subject: null, status: 'done' },
  ...{ reason: null, queue: 'cpu', priority: 0, control: null, created_by: 'usr_1' },
  ...{ created_at: AT, started_at: AT, ended_at: AT, parent_id: null, root_id: 'run_1' },
  ...{ forked_from: null, progress: null, waits: null, document: null, inputs: {}, grant: {} },
  ...{ budget: {}, usage: {}, output: null, error: null, entries: 3, head_hash: 'ab' },
};
const call = {
  ...{ key: 'promoted', tool: 'promote', state: 'done', began_at: AT, ended_at: AT },
  ...{ arguments: {}, decision: null, preview: null, provenance: null, approvals: [], waits: [] },
  ...{ retries: 0, summary: 'Promoted', value: null, artifacts: [], commits: ['c'], cost: null },
  ...{ error: null, undone: false },
};

function served(plan: { dependants: object[]; blocked: string[] }) {
  let undone = false;
  const action = () => ({
    ...{ key: 'promoted', tool: 'promote', summary: 'Promoted', at: AT, commits: ['c'] },
    ...{ way: 'version', undone, turned_by: undone ? 'usr_1' : null },
    turned_at: undone ? AT : null,
  });
  const step = { run_id: 'run_1', key: 'promoted', commit: 'c', summary: 'Promoted', at: AT };
  const turn = (to: boolean) => () => {
    undone = to;
    return json(action());
  };
  return serve({
    ...emptyProject(sessionOf('operator')),
    [`GET ${PATH}/runs/run_1`]: run,
    [`GET ${PATH}/runs/run_1/calls`]: { items: [call], next_cursor: null },
    [`GET ${PATH}/runs/run_1/actions`]: () => ({ items: [action()], next_cursor: null }),
    [`GET ${PATH}/runs/run_1/undo-plan`]: () => ({ action: action(), ...plan }),
    [`GET ${PATH}/take-back`]: () => ({
      steps: [
        ...plan.dependants.map(() => ({
          ...{ run_id: 'run_2', key: 'made', commit: 'd', summary: 'Top customers', at: AT },
          ...{ by: 'usr_1', later: true },
        })),
        { ...step, by: 'usr_1', later: false },
      ],
      blocked: plan.blocked,
      left: [],
    }),
    [`POST ${PATH}/take-back`]: () => {
      undone = true;
      return json({ run_id: 'run_9', count: 1 + plan.dependants.length });
    },
    [`POST ${PATH}/runs/run_1/undo`]: turn(true),
    [`POST ${PATH}/runs/run_1/redo`]: turn(false),
  });
}

const wasSent = (sent: { path: string }[], what: string) =>
  sent.some(({ path }) => path.endsWith(`/${what}`));

describe('undo of what a run did', () => {
  it('takes one click where nothing depends on it, and one to redo', async () => {
    const sent = served({ dependants: [], blocked: [] });
    renderApp('/p/prj_1/runs/run_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo: promoted' }));
    expect(await screen.findByText('Undone: Promoted')).toBeInTheDocument();
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(wasSent(sent, 'undo')).toBe(true);
    await userEvent.click(screen.getByRole('button', { name: 'Redo' }));
    await waitFor(() => expect(wasSent(sent, 'redo')).toBe(true));
    expect(await screen.findByRole('button', { name: 'Undo: promoted' })).toBeInTheDocument();
  });

  it('shows first what depends on it', async () => {
    const made = { message: 'Top customers', name: 'top', reason: 'made from it', author: 'usr_1' };
    const sent = served({
      dependants: [{ ...made, commit: 'd', kind: 'dataset', created_at: AT }],
      blocked: [],
    });
    renderApp('/p/prj_1/runs/run_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo: promoted' }));
    const dialog = await screen.findByRole('dialog', { name: 'Later work depends on it' });
    expect(await within(dialog).findByText('Top customers')).toBeInTheDocument();
    expect(wasSent(sent, 'undo')).toBe(false);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Undo both' }));
    expect(await screen.findByText('2 changes taken back')).toBeInTheDocument();
    expect(wasSent(sent, 'undo')).toBe(false);
    expect(
      sent.find(({ path, method }) => method === 'POST' && path.endsWith('/take-back'))?.body,
    ).toMatchObject({
      run_id: 'run_1',
      key: 'promoted',
      with_later: true,
    });
  });

  it('takes back the whole run from its page, which then says so', async () => {
    const sent = served({ dependants: [], blocked: [] });
    renderApp('/p/prj_1/runs/run_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Take back this run' }));
    const dialog = await screen.findByRole('dialog', { name: 'Take back this run' });
    await userEvent.click(await within(dialog).findByRole('button', { name: 'Undo' }));
    expect(await screen.findByText('This run was taken back')).toBeInTheDocument();
    expect(wasSent(sent, 'undo')).toBe(false);
    expect(screen.queryByRole('button', { name: 'Take back this run' })).toBeNull();
  });
});
