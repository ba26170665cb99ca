import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { splitPassword, tableDataset, withPassword } from '@/pages/datasets/server-address';
import { emptyProject, problem, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const PASSWORD = 'p@ss/100%41:word';

function found(table: string) {
  const column = { name: `id of ${table}`, type: 'BIGINT', reason: 'The server says integer.' };
  const inspection = {
    name: 'db',
    format: 'postgresql',
    columns: [
      { ...column, format: null, records: 1, values: 1, nulls: 0, misfits: 0, samples: [] },
    ],
    tables: ['customers', 'shop.orders'].map((name) => ({ name, rows: null, note: null })),
    table,
    encoding: null,
    dialect: null,
    header: null,
    rows: [['1']],
    records_seen: 1,
    complete: true,
    warnings: [],
    alternatives: [],
    would_reject: 0,
  };
  return { inspection };
}

const run = {
  id: 'run_1',
  title: 'Load',
  status: 'done',
  progress: null,
  error: null,
  output: {
    value: { dataset: 'orders', rows: 3, rejected: 0, rejects_dataset: null, warnings: [] },
  },
};

async function openForm() {
  renderApp('/p/prj_1/datasets?dialog=upload');
  const dialog = await screen.findByRole('dialog');
  await userEvent.click(await within(dialog).findByRole('button', { name: 'From a database' }));
  return within(dialog);
}

describe('addresses of servers', () => {
  it('take a password with any characters, and give it back', () => {
    const whole = withPassword('postgresql://ann@db.example.com:5432/sales', PASSWORD);
    expect(whole).toBe('postgresql://ann:p%40ss%2F100%2541%3Aword@db.example.com:5432/sales');
    expect(splitPassword(whole)).toEqual({
      address: 'postgresql://ann@db.example.com:5432/sales',
      password: PASSWORD,
    });
  });

  it('may be those of sockets, or have no user', () => {
    expect(withPassword('postgresql://ann@/sales?host=/run/pg', 'x')).toBe(
      'postgresql://ann:x@/sales?host=/run/pg',
    );
    expect(withPassword('mysql://db:3306/sales', 'x')).toBe('mysql://:x@db:3306/sales');
    expect(splitPassword('mysql://db:3306/sales').password).toBe('');
  });

  it('stay as they are without a password, and where they are none', () => {
    expect(withPassword(' mysql://ann:y@db/sales ', '')).toBe('mysql://ann:y@db/sales');
    expect(withPassword('db.example.com', 'x')).toBe('db.example.com');
    expect(splitPassword('postgresql://ann:100%@db/s').password).toBe('100%');
  });

  it('name tables whose schema is no part of the dataset', () => {
    expect(['orders', 'shop.orders', 'a.b/c'].map(tableDataset)).toEqual([
      'orders',
      'orders',
      'b_c',
    ]);
  });
});

describe('loading from a database', () => {
  it('lists the tables, looks at the chosen one and loads it', async () => {
    const sent = serve({
      ...emptyProject(sessionOf('owner')),
      [`POST ${PATH}/servers/inspect`]: ({ body }: { body: unknown }) =>
        found((body as { options: { table?: string } }).options.table ?? 'customers'),
      [`POST ${PATH}/servers/ingest`]: run,
      [`GET ${PATH}/runs/run_1`]: run,
    });
    const dialog = await openForm();
    await userEvent.click(dialog.getByRole('textbox', { name: 'Address' }));
    await userEvent.paste('postgresql://ann:some@db/sales');
    await userEvent.type(dialog.getByLabelText('Password'), 'more');
    expect(dialog.getByRole('textbox', { name: 'Address' })).toHaveValue(
      'postgresql://ann@db/sales',
    );
    await userEvent.click(dialog.getByRole('button', { name: 'Show tables' }));
    expect(await dialog.findByText('id of customers')).toBeInTheDocument();
    await userEvent.click(dialog.getByRole('radio', { name: 'shop.orders' }));
    expect(await dialog.findByText('id of shop.orders')).toBeInTheDocument();
    expect(dialog.getByLabelText(/Dataset name/)).toHaveValue('orders');
    await userEvent.click(dialog.getByRole('button', { name: 'Load' }));
    expect(await dialog.findByText('3 rows loaded as orders.')).toBeInTheDocument();
    const url = 'postgresql://ann:somemore@db/sales';
    const asked = sent.filter(({ path }) => path.includes('/servers/')).map(({ body }) => body);
    expect(asked).toEqual([
      { url, options: {} },
      { url, options: { table: 'shop.orders', columns: {} } },
      expect.objectContaining({
        url,
        dataset: 'orders',
        options: { table: 'shop.orders', columns: {} },
      }),
    ]);
  });

  it('says why a server is out of reach, and lets the address be corrected', async () => {
    const detail = "'localhost' is a private address; only an admin of the project may load.";
    const sent = serve({
      ...emptyProject(sessionOf('editor')),
      [`GET ${PATH}/secrets`]: { items: [{ name: 'warehouse' }], next_cursor: null },
      [`POST ${PATH}/servers/inspect`]: problem(403, { code: 'private-address', detail }),
    });
    const dialog = await openForm();
    expect(dialog.getByText(/open to admins of the project/)).toBeInTheDocument();
    await userEvent.click(dialog.getByRole('radio', { name: 'By a stored secret' }));
    await userEvent.click(dialog.getByLabelText('Secret'));
    await userEvent.click(await screen.findByRole('option', { name: 'warehouse', hidden: true }));
    await userEvent.click(dialog.getByRole('button', { name: 'Show tables' }));
    expect(await dialog.findByRole('alert')).toHaveTextContent(detail);
    await waitFor(() => expect(dialog.getByRole('button', { name: 'Show tables' })).toBeEnabled());
    expect(sent.at(-1)?.body).toEqual({ secret: 'warehouse', options: {} });
  });
});
