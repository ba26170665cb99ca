import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Role } from '@/api/types';
import {
  emptyProject,
  json,
  noContent,
  renderApp,
  type Routes,
  serve,
  sessionOf,
} from '../harness';

const PATH = '/api/v1/projects/prj_1';
const AT = '2026-01-01T00:00:00Z';
const card = {
  ...{ id: 'pbk_1', slug: 'costs', name: 'Monthly costs', folder: 'Finance', goal: 'Spread them' },
  ...{ state: 'active', head: 2, deployed: 2, previous: null, owner: 'usr_1', version: 3 },
  ...{ allowed: { users: [], groups: [], everyone: false }, created_by: 'usr_1', created_at: AT },
  ...{ updated_at: AT, deleted_at: null },
};
const detail = {
  ...card,
  document: { budget: { usd: 1 } },
  yaml: 'format: 1\nid: costs\n',
  inputs: { type: 'object', properties: {} },
  may_edit: true,
  may_run: true,
};

const listed = (...items: object[]) => ({ items, next_cursor: null });

function project(more: Routes = {}, role: Role = 'editor') {
  return serve({
    ...emptyProject(sessionOf(role)),
    [`GET ${PATH}/playbooks`]: listed(card),
    [`GET ${PATH}/playbooks/pbk_1`]: detail,
    [`GET ${PATH}/playbooks/pbk_1/runs`]: listed(),
    [`GET ${PATH}/playbooks/pbk_1/revisions`]: listed(),
    [`POST ${PATH}/playbooks/check`]: { valid: true, problems: [], yaml: '' },
    ...more,
  });
}

describe('a playbook over the library', () => {
  it('opens from its card, has its own address, and gives the focus back', async () => {
    project();
    const { router } = renderApp('/p/prj_1/playbooks?q=costs');
    const link = await screen.findByRole('link', { name: 'Monthly costs' });
    await userEvent.click(link);
    const drawer = await screen.findByRole('dialog', { name: /Monthly costs/ });
    expect(router.state.location.pathname).toBe('/p/prj_1/playbooks/pbk_1');
    await userEvent.click(await within(drawer).findByRole('tab', { name: 'Past runs' }));
    expect(router.state.location.search).toEqual({ q: 'costs', tab: 'runs' });
    expect(await within(drawer).findByText('It has not run yet')).toBeInTheDocument();
    expect(document.title).toContain('Monthly costs');
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(router.state.location.href).toBe('/p/prj_1/playbooks?q=costs');
    expect(screen.getByRole('link', { name: 'Monthly costs' })).toHaveFocus();
    expect(document.title).toContain('Playbooks');
  });

  it('opens by an address that somebody sent', async () => {
    project();
    renderApp('/p/prj_1/playbooks/pbk_1?tab=versions');
    const drawer = await screen.findByRole('dialog', { name: /Monthly costs/ });
    expect(await within(drawer).findByText('No revisions yet')).toBeInTheDocument();
  });

  it('keeps a text that was not saved', async () => {
    project();
    renderApp('/p/prj_1/playbooks/pbk_1?tab=text');
    const text = await screen.findByRole('textbox', { name: /Playbook|YAML|Text/ });
    await userEvent.type(text, '# mine');
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await userEvent.click(screen.getByRole('link', { name: 'Monthly costs' }));
    await userEvent.click(await screen.findByRole('tab', { name: 'Text' }));
    expect(await screen.findByDisplayValue(/# mine/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Start over' }));
    expect(screen.queryByDisplayValue(/# mine/)).toBeNull();
  });

  it('says what to do where there is none', async () => {
    project();
    renderApp('/p/prj_1/playbooks/pbk_2');
    const drawer = await screen.findByRole('dialog');
    expect(await within(drawer).findByText(/not served here/)).toBeInTheDocument();
  });
});

describe('what was put away', () => {
  it('is listed, brought back, deleted and restored', async () => {
    const sent = project({
      [`GET ${PATH}/playbooks`]: listed({ ...card, state: 'archived' }),
      [`DELETE ${PATH}/playbooks/pbk_1`]: noContent,
      [`POST ${PATH}/playbooks/pbk_1/restore`]: card,
    });
    renderApp('/p/prj_1/playbooks?archived=yes');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete Monthly costs' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(sent.at(-1)?.path ?? '').not.toBe(''));
    expect(sent.some(({ path }) => path.endsWith('/restore'))).toBe(true);
  });

  it('has no page of its own once it is deleted', async () => {
    const sent = project({
      [`GET ${PATH}/playbooks`]: listed({ ...card, state: 'archived', deleted_at: AT }),
      [`POST ${PATH}/playbooks/pbk_1/restore`]: card,
    });
    renderApp('/p/prj_1/playbooks?show=deleted');
    await userEvent.click(await screen.findByRole('button', { name: 'Restore Monthly costs' }));
    expect(screen.queryByRole('link', { name: 'Monthly costs' })).toBeNull();
    await waitFor(() => expect(sent.some(({ path }) => path.endsWith('/restore'))).toBe(true));
  });

  it('is not shown to whoever only runs', async () => {
    project({}, 'runner');
    renderApp('/p/prj_1/playbooks?show=deleted');
    expect(await screen.findByRole('link', { name: 'Monthly costs' })).toBeVisible();
    expect(screen.queryByRole('radio', { name: 'Deleted' })).toBeNull();
  });
});

describe('import', () => {
  const file = (name: string, text: string) => new File([text], name, { type: 'text/yaml' });
  const result = (name: string, change: string, problems: object[] = []) => ({
    ...{ name, change, playbook: null, problems },
    reason: change === 'refused' ? 'It is not valid' : null,
  });

  it('shows what becomes of each file, and imports once none is refused', async () => {
    const sent = project({
      [`POST ${PATH}/playbooks/import/files`]: ({ body }: { body: unknown }) => {
        const { files, trial } = body as { files: { name: string }[]; trial: boolean };
        const wrong = [{ pointer: '/budget', message: 'is missing (line 1)' }];
        const told = files.map(({ name }) =>
          name === 'bad.yaml' ? result(name, 'refused', wrong) : result(name, 'created'),
        );
        return json({ written: !trial, files: told });
      },
    });
    renderApp('/p/prj_1/playbooks?dialog=import');
    const dialog = await screen.findByRole('dialog', { name: 'Import playbooks' });
    const input = document.querySelector('input[type=file]');
    await userEvent.upload(input as HTMLInputElement, [
      ...[file('good.yaml', 'a'), file('bad.yaml', 'b')],
    ]);
    expect(await within(dialog).findByText(/is missing \(line 1\)/)).toBeInTheDocument();
    expect(within(dialog).getByRole('button', { name: 'Import 2 playbooks' })).toBeDisabled();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Leave out bad.yaml' }));
    const go = await within(dialog).findByRole('button', { name: 'Import it' });
    await waitFor(() => expect(go).toBeEnabled());
    await userEvent.click(go);
    expect(await screen.findByText('Imported: 1 new')).toBeVisible();
    const imports = sent.filter(({ path }) => path.endsWith('/import/files'));
    expect(imports.map(({ body }) => (body as { trial: boolean }).trial)).toEqual([
      ...[true, true, false],
    ]);
  });
});
