import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { whenSignedOut } from '@/api/client';
import type { Role } from '@/api/types';
import {
  emptyProject,
  noContent,
  problem,
  renderApp,
  type Routes,
  serve,
  sessionOf,
} from '../harness';

function openAs(role: Role, address = '/p/prj_1', more: Routes = {}) {
  const sent = serve({ ...emptyProject(sessionOf(role)), ...more });
  return { sent, ...renderApp(address) };
}

const pageLinks = async () => {
  const navigation = await screen.findByRole('navigation', { name: 'Pages' });
  return within(navigation)
    .getAllByRole('link')
    .map(({ textContent }) => textContent);
};
const heading = (name: string) => screen.findByRole('heading', { level: 1, name });

describe('the navigation', () => {
  it('offers a viewer nothing that only others may do', async () => {
    openAs('viewer');
    expect(await pageLinks()).toEqual([
      'Home',
      'Inbox',
      'Chat',
      'Datasets',
      'Relations',
      'Definitions',
      'Lineage',
      'Reports',
      'Files',
      'History',
      'Playbooks',
      'Flows',
      'Blueprints',
      'Agents',
      'Skills',
      'Connections',
      'Catalogue',
      'Triggers',
      'Schedules',
      'Overview',
      'Runs',
      'Activity',
      'Evaluations',
      'Audit',
      'Members',
      'Models',
      'API tokens',
      'Policy',
    ]);
  });

  it('offers a runner what is shared with them, and asks for nothing else', async () => {
    const { sent } = openAs('runner');
    await heading('Playbooks');
    expect(await pageLinks()).toEqual(['Inbox', 'Playbooks', 'Runs']);
    const asked = sent.map(({ path }) => path).filter((path) => path.includes('/prj_1/'));
    for (const closed of ['members', 'policy', 'datasets', 'tools']) {
      expect(asked.filter((path) => path.includes(`/prj_1/${closed}`))).toEqual([]);
    }
  });

  it('offers an owner everything', async () => {
    openAs('owner');
    expect(await pageLinks()).toEqual(expect.arrayContaining(['Secrets', 'Settings']));
  });

  it('groups pages by what people come for, and remembers which groups somebody closed', async () => {
    openAs('viewer');
    const data = await screen.findByRole('list', { name: 'Data' });
    expect(within(data).getByRole('link', { name: 'Datasets' })).toBeVisible();
    expect(within(data).queryByRole('link', { name: 'Runs' })).not.toBeInTheDocument();
    await userEvent.click(screen.getByText('Data'));
    expect(within(data).getByText('Datasets')).not.toBeVisible();
    expect(localStorage.getItem('steward.navigation.data')).toBe('closed');
    localStorage.clear();
  });

  it('marks the page one is on', async () => {
    openAs('owner', '/p/prj_1/members');
    await heading('Members');
    expect(screen.getByRole('link', { current: 'page' })).toHaveTextContent('Members');
  });
});

describe('a page', () => {
  it('that is above one’s role explains itself and fetches nothing', async () => {
    const { sent } = openAs('viewer', '/p/prj_1/settings');
    expect(await screen.findByText('This page is for Admins and above')).toBeInTheDocument();
    expect(sent.map(({ path }) => path)).not.toContain('/api/v1/projects/prj_1');
  });

  it('hides what the role may not do', async () => {
    openAs('editor', '/p/prj_1/secrets');
    expect(await screen.findByText('No secrets yet')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Set a secret' })).not.toBeInTheDocument();
  });

  it('takes the focus to its title when one navigates to it', async () => {
    openAs('owner', '/p/prj_1/members');
    await heading('Members');
    expect(document.body).toHaveFocus();
    await userEvent.click(screen.getByRole('link', { name: 'API tokens' }));
    const title = await heading('API tokens');
    await waitFor(() => expect(title).toHaveFocus());
    expect(document.title).toBe('API tokens · Demo · Steward');
  });

  it('that does not exist says so inside the project', async () => {
    openAs('owner', '/p/prj_1/nonsense');
    expect(await screen.findByText('There is no page at this address')).toBeInTheDocument();
    expect(await pageLinks()).toContain('Home');
  });

  it('of a project one does not belong to says so', async () => {
    openAs('owner', '/p/prj_unknown/members');
    expect(await screen.findByText('There is no project for you here')).toBeInTheDocument();
  });

  it('goes away when one is removed from the project while it is open', async () => {
    const session = sessionOf('viewer');
    const { queryClient } = openAs('viewer', '/p/prj_1/members');
    await heading('Members');
    queryClient.setQueryData(['session'], { ...session, projects: [] });
    expect(await screen.findByText('There is no project for you here')).toBeInTheDocument();
  });
});

describe('the address', () => {
  it('without a project leads to the one last used', async () => {
    const { router } = openAs('owner', '/');
    await heading('Demo');
    expect(router.state.location.pathname).toBe('/p/prj_1');
  });

  it('leads visitors to the sign-in page and remembers where they wanted to go', async () => {
    serve({ 'GET /api/v1/session': problem(401) });
    const { router } = renderApp('/p/prj_1/tokens?show=all');
    await heading('Sign in to Steward');
    expect(router.state.location.search).toEqual({ next: '/p/prj_1/tokens?show=all' });
  });

  it('opens dialogs, which close without a trace in the history', async () => {
    const { router } = openAs('owner', '/p/prj_1/tokens?dialog=create');
    expect(await screen.findByRole('dialog', { name: 'Create API token' })).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(router.state.location.search).toEqual({}));
    expect(router.history.length).toBe(1);
  });
});

describe('a session that ends while the page is open', () => {
  it('is noticed at the next request', async () => {
    const left = vi.fn();
    const token = {
      id: 'tok_1',
      name: 'Nightly',
      role: 'viewer',
      prefix: 'stw_1',
      created_at: '2026-01-01T00:00:00Z',
      expires_at: '2999-01-01T00:00:00Z',
      last_used_at: null,
      revoked_at: null,
    };
    openAs('owner', '/p/prj_1/tokens', {
      'GET /api/v1/projects/prj_1/tokens': { items: [token], next_cursor: null },
      'DELETE /api/v1/projects/prj_1/tokens/tok_1': problem(401),
    });
    whenSignedOut(left);
    await userEvent.click(await screen.findByRole('button', { name: 'Revoke Nightly' }));
    await waitFor(() => expect(left).toHaveBeenCalled());
  });
});

describe('the account menu', () => {
  it('is walked with the arrow keys and closed with Escape', async () => {
    openAs('owner');
    const button = await screen.findByRole('button', { name: /Account menu/ });
    await userEvent.click(button);
    expect(screen.getByRole('menuitem', { name: 'Profile' })).toHaveFocus();
    await userEvent.keyboard('{ArrowUp}');
    expect(screen.getByRole('menuitem', { name: 'Sign out' })).toHaveFocus();
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    expect(button).toHaveFocus();
  });

  it('signs out on the server', async () => {
    const { sent } = openAs('owner', '/p/prj_1', { 'DELETE /api/v1/session': noContent });
    await userEvent.click(await screen.findByRole('button', { name: /Account menu/ }));
    await userEvent.click(screen.getByRole('menuitem', { name: 'Sign out' }));
    const deletion = () => sent.find(({ method }) => method === 'DELETE');
    await waitFor(() => expect(deletion()).toMatchObject({ path: '/api/v1/session' }));
  });
});

describe('the documentation', () => {
  it('opens in a tab of its own, from the account menu and from the palette', async () => {
    const opened = vi.spyOn(globalThis, 'open').mockReturnValue(null);
    openAs('owner');
    await userEvent.click(await screen.findByRole('button', { name: /Account menu/ }));
    await userEvent.click(screen.getByRole('menuitem', { name: 'Documentation' }));
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox'), 'help{Enter}');
    expect(opened.mock.calls).toEqual([
      ['/docs/', '_blank', 'noopener'],
      ['/docs/', '_blank', 'noopener'],
    ]);
  });
});

describe('the tour', () => {
  it('leads over five pages, can be left at any time and starts again from the menu', async () => {
    const { router } = openAs('owner', '/p/prj_1/tokens');
    const start = async () => {
      await userEvent.click(await screen.findByRole('button', { name: /Account menu/ }));
      await userEvent.click(screen.getByRole('menuitem', { name: 'Take the tour' }));
    };
    await start();
    expect(await screen.findByText('Step 1 of 5')).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Next: Your data' }));
    expect(await screen.findByText('Step 2 of 5')).toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/p/prj_1/datasets');
    await userEvent.click(screen.getByRole('button', { name: 'Leave the tour' }));
    await waitFor(() => expect(screen.queryByText('Step 2 of 5')).not.toBeInTheDocument());
    expect(router.state.location.pathname).toBe('/p/prj_1/datasets');
    await start();
    expect(await screen.findByText('Step 1 of 5')).toBeInTheDocument();
  });
});

describe('the command palette', () => {
  it('keeps what is typed before it is there', async () => {
    openAs('owner');
    await heading('Demo');
    fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
    for (const key of 'xto') fireEvent.keyDown(document.body, { key });
    expect(await screen.findByRole('combobox', { name: /Search pages/ })).toHaveValue('xto');
  });

  it('opens with Ctrl-K, finds by words and goes where Enter says', async () => {
    const { router } = openAs('owner');
    await heading('Demo');
    await userEvent.keyboard('{Control>}k{/Control}');
    const field = await screen.findByRole('combobox', { name: /Search pages/ });
    await userEvent.type(field, 'api tok');
    const chosen = screen.getByRole('option', { selected: true });
    expect(chosen).toHaveTextContent('API tokens');
    expect(field).toHaveAttribute('aria-activedescendant', chosen.id);
    await userEvent.keyboard('{Enter}');
    await heading('API tokens');
    expect(router.state.location.pathname).toBe('/p/prj_1/tokens');
  });

  it('offers no action that the role may not take', async () => {
    openAs('viewer');
    await heading('Demo');
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox', { name: /Search pages/ }), 'invite');
    expect(screen.queryByRole('option')).not.toBeInTheDocument();
    expect(await screen.findByText('Nothing matches “invite”.')).toBeInTheDocument();
  });

  it('finds what the project has by the words that somebody knows of it', async () => {
    const { router } = openAs('viewer', '/p/prj_1', {
      'GET /api/v1/projects/prj_1/search': {
        items: [
          { kind: 'dataset', id: 'crm invoices', title: 'crm invoices', detail: '5,227 rows' },
          { kind: 'column', id: 'crm invoices', title: 'billing_city', detail: 'in crm invoices' },
        ],
      },
    });
    await heading('Demo');
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox', { name: /Search pages/ }), 'billing');
    const hit = await screen.findByRole('option', { name: /billing_city/ });
    expect(hit).toHaveTextContent('in crm invoices');
    await userEvent.click(hit);
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/p/prj_1/datasets/crm invoices'),
    );
  });
});
