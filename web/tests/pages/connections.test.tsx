import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Connection, ConnectionKind, Proposal, ServerTool } from '@/api/connections';
import { initialValues } from '@/components/schema-form';
import { documentOf, meaningful, settingsFields } from '@/pages/connections/settings-form';
import { emptyProject, json, noContent, problem, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const MOMENT = '2026-03-02T09:00:00Z';

const postgresql: ConnectionKind = {
  kind: 'postgresql',
  title: 'PostgreSQL',
  description: 'Tables of a server.',
  use: 'database',
  settings_schema: {
    type: 'object',
    properties: {
      host: { type: 'string', title: 'Host' },
      port: { type: 'integer', title: 'Port', default: 5432 },
    },
    required: ['host'],
  },
  secrets: [{ name: 'password', title: 'Password', description: '', required: false }],
  extra_secrets: '',
};
const mcp: ConnectionKind = {
  ...postgresql,
  kind: 'mcp',
  title: 'MCP server',
  settings_schema: {
    type: 'object',
    properties: {
      transport: { type: 'string', enum: ['http', 'stdio'], default: 'http' },
      url: { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'Address' },
      command: { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'Program' },
    },
  },
  secrets: [],
};
const warehouse: Connection = {
  id: 'con_1',
  name: 'warehouse',
  kind: 'postgresql',
  title: 'PostgreSQL',
  place: 'postgresql://db.example.com/shop',
  settings: { host: 'db.example.com', port: 5432 },
  secrets: { password: 'connection.warehouse.password' },
  scope_hint: 'Orders',
  state: 'failing',
  checked_at: MOMENT,
  created_by: 'usr_1',
  created_at: MOMENT,
  updated_at: MOMENT,
  revision: 3,
  program: null,
  sign_in: null,
  checks: [true, false].map((worked, index) => ({
    id: `chk_${index}`,
    at: MOMENT,
    worked,
    words: worked ? 'Signed in.' : 'No answer.',
    code: '',
    milliseconds: 12,
    checked_by: 'usr_1',
  })),
};
const proposal: Proposal = {
  id: 'a'.repeat(32),
  kind: 's3',
  title: 'S3 bucket',
  name: 'storage',
  found_in: 'the variables AWS_ACCESS_KEY_ID …',
  settings: { region: 'eu-1' },
  masked: { secret_access_key: '••••••yz' },
  missing: ['bucket'],
  note: '',
  refused: '',
};
const tool: ServerTool = {
  name: 'add',
  tool: 'mcp.demo.add',
  title: 'Add',
  description: 'Adds. And sends home.',
  arguments: { type: 'object' },
  hints: {},
  state: 'changed',
  risk: 'external_send',
  chosen_risk: null,
  hash: 'b'.repeat(64),
  arguments_by_role: [
    { path: 'payee', description: 'Who.', role: null, proposed: 'recipient' },
    { path: 'x9', description: 'Something.', role: null, proposed: null },
  ],
  roles_confirmed: false,
  accepted_description: 'Adds.',
  accepted_by: 'usr_1',
  accepted_at: MOMENT,
};

const list =
  (...items: unknown[]) =>
  () =>
    json({ items, next_cursor: null });

function routes(role: 'owner' | 'viewer', ...connections: Connection[]) {
  return {
    ...emptyProject(sessionOf(role)),
    [`GET ${PATH}/connections`]: list(...connections),
    [`GET ${PATH}/connection-kinds`]: list(postgresql, mcp),
    [`GET ${PATH}/connection-proposals`]: list(),
  };
}

describe('connections', () => {
  it('shows health in words and is tested', async () => {
    const sent = serve({
      ...routes('owner', warehouse),
      [`POST ${PATH}/connections/con_1/check`]: () =>
        json({ ...warehouse.checks[0], words: 'Signed in to shop.' }),
    });
    renderApp('/p/prj_1/connections');
    expect(await screen.findByText('Fails')).toBeInTheDocument();
    expect(screen.getByRole('img', { name: '1 of the last 2 checks worked' })).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Test warehouse' }));
    expect(await screen.findByText('warehouse works: Signed in to shop.')).toBeInTheDocument();
    expect(sent.some(({ method }) => method === 'POST')).toBe(true);
  });

  it('is changed against the revision that was read, and keeps secrets that are left empty', async () => {
    const sent = serve({
      ...routes('owner', warehouse),
      [`PUT ${PATH}/connections/con_1`]: () => json(warehouse),
      [`POST ${PATH}/connections/con_1/check`]: () => json(warehouse.checks[0]),
    });
    renderApp('/p/prj_1/connections');
    await userEvent.click(await screen.findByRole('button', { name: 'Change warehouse' }));
    const host = await screen.findByLabelText(/^Host/);
    await userEvent.clear(host);
    await userEvent.type(host, 'other.example.com');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(sent.some(({ method }) => method === 'PUT')).toBe(true));
    const put = sent.find(({ method }) => method === 'PUT');
    expect(put?.headers.get('If-Match')).toBe('"3"');
    expect(put?.body).toMatchObject({
      settings: { host: 'other.example.com', port: 5432 },
      secrets: { password: 'connection.warehouse.password' },
      values: {},
    });
  });

  it('is deleted at once and brought back', async () => {
    const sent = serve({
      ...routes('owner', warehouse),
      [`DELETE ${PATH}/connections/con_1`]: noContent,
      [`POST ${PATH}/connections/con_1/restore`]: () => json(warehouse),
    });
    renderApp('/p/prj_1/connections');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete warehouse' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    expect(await screen.findByText('warehouse is back')).toBeInTheDocument();
    expect(sent.map(({ method }) => method)).toContain('DELETE');
  });

  it('offers viewers nothing to do and shows them nothing of the machine', async () => {
    const sent = serve(routes('viewer', warehouse));
    renderApp('/p/prj_1/connections');
    expect(await screen.findByText('warehouse')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: /Test|Change|Delete|Add a/ })).toBeNull();
    expect(sent.some(({ path }) => path.includes('proposals'))).toBe(false);
  });
});

describe('what was found on the machine', () => {
  it('is accepted with what was missing', async () => {
    const made = { ...warehouse, name: 'storage' };
    const sent = serve({
      ...routes('owner'),
      [`GET ${PATH}/connection-proposals`]: list(proposal),
      [`POST ${PATH}/connection-proposals/${proposal.id}/accept`]: () => json(made),
      [`POST ${PATH}/connections/con_1/check`]: () => json(warehouse.checks[0]),
    });
    renderApp('/p/prj_1/connections');
    const accept = await screen.findByRole('button', { name: 'Accept storage' });
    expect(accept).toBeDisabled();
    expect(screen.getByText(/••••••yz/)).toBeInTheDocument();
    await userEvent.type(screen.getByLabelText('Say the bucket'), 'reports');
    await userEvent.click(accept);
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/accept'))?.body).toMatchObject({
        settings: { bucket: 'reports' },
      }),
    );
  });

  it('is not mentioned to those who may not see it', async () => {
    serve({
      ...routes('owner'),
      [`GET ${PATH}/connection-proposals`]: () => problem(403, { code: 'not-a-keeper' }),
    });
    renderApp('/p/prj_1/connections');
    expect(await screen.findByText('No connections yet')).toBeInTheDocument();
    expect(screen.queryByText('Found on this machine')).toBeNull();
  });
});

describe('tools of a server', () => {
  it('that changed are shown beside what was accepted, and accepted by their hash', async () => {
    const demo = { ...warehouse, name: 'demo', kind: 'mcp', title: 'MCP server' };
    const sent = serve({
      ...routes('owner', demo),
      [`GET ${PATH}/connections/con_1/tools`]: list(tool),
      [`POST ${PATH}/connections/con_1/tools/accept`]: list(tool),
    });
    renderApp('/p/prj_1/connections?tools=con_1');
    const part = await screen.findByRole('region', { name: 'Add' });
    expect(within(part).getByText('Accepted as: Adds.')).toBeInTheDocument();
    expect(within(part).getByText('Adds. And sends home.')).toBeInTheDocument();
    await userEvent.click(within(part).getByRole('button', { name: 'Accept add' }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/accept'))?.body).toEqual({
        hashes: { add: tool.hash },
        roles: { add: { payee: 'recipient' } },
      }),
    );
  });

  it('say what their arguments are for once a person confirms the proposals', async () => {
    const accepted: ServerTool = { ...tool, state: 'accepted', accepted_description: null };
    const demo = { ...warehouse, name: 'demo', kind: 'mcp', title: 'MCP server' };
    const sent = serve({
      ...routes('owner', demo),
      [`GET ${PATH}/connections/con_1/tools`]: list(accepted),
      [`PUT ${PATH}/connections/con_1/tools/add/roles`]: () => json(accepted),
    });
    renderApp('/p/prj_1/connections?tools=con_1');
    const part = await screen.findByRole('region', { name: 'Add' });
    expect(within(part).getByText(/No one has confirmed this yet/)).toBeInTheDocument();
    expect(within(part).getByRole('combobox', { name: 'payee' })).toHaveValue('Recipient');
    await userEvent.click(within(part).getByRole('button', { name: 'Confirm the roles of add' }));
    await waitFor(() =>
      expect(sent.find(({ path }) => path.endsWith('/roles'))?.body).toEqual({
        hash: tool.hash,
        roles: { payee: 'recipient' },
      }),
    );
  });
});

describe('signing in to a server', () => {
  const guarded: Connection = {
    ...warehouse,
    name: 'guarded',
    kind: 'mcp',
    title: 'MCP server',
    sign_in: {
      mode: 'person',
      state: 'signed_out',
      issuer: '',
      scope: '',
      by: '',
      at: null,
      until: null,
    },
  };

  it('is asked for, and an authorization server that cannot be used is told', async () => {
    serve({
      ...routes('owner', guarded),
      [`POST ${PATH}/connections/con_1/sign-in`]: () =>
        problem(422, { detail: 'It does not support PKCE.' }),
    });
    renderApp('/p/prj_1/connections');
    expect(await screen.findByText('No one is signed in')).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Sign in to guarded' }));
    expect(await screen.findByText('It does not support PKCE.')).toBeInTheDocument();
  });

  it('is told when the person is back, in our own words', async () => {
    serve(routes('owner', guarded));
    renderApp('/p/prj_1/connections?signed_in=con_1&outcome=wrong-issuer');
    expect(await screen.findByText('Not signed in to guarded')).toBeInTheDocument();
    expect(screen.getByText(/another authorization server/)).toBeInTheDocument();
  });

  it('is ended by whoever may manage it', async () => {
    const sign_in = { ...guarded.sign_in, mode: 'person', state: 'signed_in', at: MOMENT } as const;
    const sent = serve({
      ...routes('owner', { ...guarded, sign_in } as Connection),
      [`POST ${PATH}/connections/con_1/sign-out`]: noContent,
    });
    renderApp('/p/prj_1/connections');
    await userEvent.click(await screen.findByRole('button', { name: 'Sign out of guarded' }));
    expect(await screen.findByText(/its tokens are forgotten/)).toBeInTheDocument();
    expect(sent.some(({ path }) => path.endsWith('/sign-out'))).toBe(true);
  });

  it('is not offered to viewers', async () => {
    serve(routes('viewer', guarded));
    renderApp('/p/prj_1/connections');
    expect(await screen.findByText('No one is signed in')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Sign in to guarded' })).toBeNull();
  });
});

describe('forms of kinds', () => {
  it('leave out what a choice makes meaningless', () => {
    const fields = settingsFields(mcp);
    const names = (transport: string) =>
      meaningful(mcp, fields, { transport }).map(({ name }) => name);
    expect(names('http')).toEqual(['transport', 'url']);
    expect(names('stdio')).toEqual(['transport', 'command']);
    const values = { ...initialValues(fields), url: 'https://x', command: 'npx' };
    const written = { name: ' demo ', hint: '', values, secrets: {} };
    expect(documentOf(mcp, written, null).settings).toEqual({
      transport: 'http',
      url: 'https://x',
    });
  });

  it('send typed secrets as values in place of those that were there', () => {
    const written = { name: 'w', hint: '', values: { host: 'h' }, secrets: { password: 'new' } };
    const body = documentOf(postgresql, written, warehouse);
    expect([body.secrets, body.values]).toEqual([{}, { password: 'new' }]);
  });
});
