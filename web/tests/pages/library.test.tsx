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
  source: 'format: 1\nid: costs\n',
  layout: {},
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

  it('takes the zip of an export, and says which file is of another kind', async () => {
    const sent = project({
      [`POST ${PATH}/playbooks/import/unpack`]: {
        files: ['a.yaml', 'b.yaml'].map((name) => ({ name: `Finance/${name}`, yaml: name })),
      },
      [`POST ${PATH}/playbooks/import/files`]: ({ body }: { body: unknown }) => {
        const { files, trial } = body as { files: { name: string }[]; trial: boolean };
        return json({ written: !trial, files: files.map(({ name }) => result(name, 'unchanged')) });
      },
    });
    renderApp('/p/prj_1/playbooks?dialog=import');
    const dialog = await screen.findByRole('dialog', { name: 'Import playbooks' });
    const input = document.querySelector<HTMLInputElement>('input[type=file]');
    if (!input) throw new Error('There is no place for files');
    const user = userEvent.setup({ applyAccept: false });
    await user.upload(input, [file('notes.txt', 'x')]);
    expect(await within(dialog).findByText(/notes.txt is neither a YAML file/)).toBeVisible();
    await user.upload(input, [file('playbooks.zip', '{}')]);
    expect(await within(dialog).findByText('Finance/b.yaml')).toBeVisible();
    expect(within(dialog).queryByText(/notes.txt/)).toBeNull();
    const asked = sent.find(({ path }) => path.endsWith('/import/unpack'));
    expect(asked?.headers.get('content-type')).toBe('application/zip');
    await user.click(await within(dialog).findByRole('button', { name: 'Import 2 playbooks' }));
    expect(await screen.findByText('Nothing was new')).toBeVisible();
  });
});

describe('what a playbook needs', () => {
  const column = (name: string) => ({ name, kind: 'any', read_from: name, type: null });
  const missing = {
    ...{ kind: 'dataset', name: 'sales', read_from: 'sales', problem: 'there is no dataset sales' },
    columns: [column('sold_on'), column('product')],
  };
  const written = { dataset: 'sales', columns: { sold_on: 'any', product: 'any' } };
  const draft = { ...detail, state: 'draft', deployed: null, document: { data: [written] } };
  const orders = {
    ...{ name: 'orders', version: 'v', rows: 1, bytes: 1, touched_at: AT },
    columns: ['Sold on', 'Artikel'].map((name) => ({ name, type: 'VARCHAR' })),
  };

  it('is read from other data, column by column', async () => {
    const sent = project({
      [`GET ${PATH}/playbooks/pbk_1`]: draft,
      [`GET ${PATH}/playbooks/pbk_1/needs`]: { items: [missing] },
      [`GET ${PATH}/datasets`]: listed(orders),
      [`PUT ${PATH}/playbooks/pbk_1`]: { ...draft, head: 3 },
    });
    const { router } = renderApp('/p/prj_1/playbooks/pbk_1');
    const open = await screen.findByRole('button', { name: 'Use other data for sales' });
    expect(screen.getByText('There is no dataset sales.')).toBeVisible();
    await userEvent.click(open);
    const dialog = await screen.findByRole('dialog', { name: 'Other data for sales' });
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
    expect(router.state.location.pathname).toBe('/p/prj_1/playbooks/pbk_1');
    await userEvent.click(screen.getByRole('button', { name: 'Use other data for sales' }));
    await userEvent.click(await screen.findByRole('combobox', { name: /Dataset/ }));
    await userEvent.click(await screen.findByRole('option', { name: 'orders', hidden: true }));
    expect(screen.getByRole('combobox', { name: /sold_on/ })).toHaveValue('Sold on');
    const save = screen.getByRole('button', { name: 'Read these' });
    expect(save).toBeDisabled();
    await userEvent.click(screen.getByRole('combobox', { name: /product/ }));
    const columns = await screen.findAllByRole('option', { name: 'Artikel', hidden: true });
    for (const column of columns.slice(-1)) await userEvent.click(column);
    await userEvent.click(save);
    await waitFor(() => expect(sent.some(({ method }) => method === 'PUT')).toBe(true));
    const put = sent.find(({ method }) => method === 'PUT');
    expect((put?.body as typeof draft).document.data).toEqual([
      { ...written, source: 'orders', renamed: { sold_on: 'Sold on', product: 'Artikel' } },
    ]);
  });
});
