import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { emptyProject, json, noContent, problem, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const TOKEN = '01kdgq3v0z8r5m2x7c4b9n6t1w0123';
const ADDRESS = `http://localhost:8400/api/v1/links/${TOKEN}`;
const LINK = {
  id: 'lnk_1',
  kind: 'download',
  name: 'sales.csv',
  bytes: 120,
  single_use: false,
  uses: 2,
  made_by: 'Ada',
  created_at: '2026-11-19T08:00:00Z',
  expires_at: '2030-11-20T08:00:00Z',
  last_used_at: null,
  run_id: 'run_1',
  address: ADDRESS,
};
const files = {
  items: [{ path: 'originals/sales.csv', digest: 'd', bytes: 120 }],
  next_cursor: null,
};

describe('links for people without an account', () => {
  it('are made for a file, listed and revoked', async () => {
    const sent = serve({
      ...emptyProject(sessionOf('editor')),
      [`GET ${PATH}/files`]: files,
      [`GET ${PATH}/links`]: { items: [LINK], next_cursor: null },
      [`POST ${PATH}/links/downloads`]: () => json(LINK, { status: 201 }),
      [`DELETE ${PATH}/links/lnk_1`]: noContent,
    });
    renderApp('/p/prj_1/files');
    await userEvent.click(await screen.findByLabelText('Copy download link for sales.csv'));
    await userEvent.click(await screen.findByRole('switch', { name: /^It works only once/ }));
    await userEvent.click(screen.getByRole('button', { name: 'Create link' }));
    expect(await screen.findByLabelText('Link')).toHaveValue(ADDRESS);
    expect(sent.find(({ method }) => method === 'POST')?.body).toEqual({
      file: 'originals/sales.csv',
      minutes: 1440,
      single_use: true,
    });
    await userEvent.click(screen.getByRole('button', { name: 'Done' }));
    await userEvent.click(await screen.findByLabelText('Revoke the link for sales.csv'));
    await waitFor(() => expect(sent.some(({ method }) => method === 'DELETE')).toBe(true));
  });

  it('are not offered to viewers', async () => {
    serve({ ...emptyProject(sessionOf('viewer')), [`GET ${PATH}/files`]: files });
    renderApp('/p/prj_1/files');
    expect(await screen.findByLabelText('Download sales.csv')).toBeInTheDocument();
    expect(screen.queryByLabelText('Copy download link for sales.csv')).toBeNull();
  });

  it('take a file from a visitor, and say why not', async () => {
    let answers = [
      problem(413, { detail: 'The file is larger than the 5 bytes.', code: 'upload-too-large' }),
      json({ name: 'a.json', bytes: 7 }, { status: 201 }),
    ];
    const sent = serve({
      'GET /api/v1/session': problem(401),
      [`PUT /api/v1/links/${TOKEN}/a.json`]: () => {
        const [first, ...rest] = answers;
        answers = rest;
        return first;
      },
    });
    renderApp(`/send#${TOKEN}`);
    const file = new File(['{"a":1}'], 'a.json', { type: 'application/json' });
    const input = await waitFor(() => {
      const found = document.querySelector<HTMLInputElement>('input[type=file]');
      if (found === null) throw new Error('no field yet');
      return found;
    });
    await userEvent.upload(input, file);
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(await screen.findByText(/larger than the 5 bytes/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(await screen.findByText(/“a.json” has arrived/)).toBeInTheDocument();
    const put = sent.filter(({ method }) => method === 'PUT');
    expect(put).toHaveLength(2);
    expect(put[1]?.body).toEqual({ a: 1 });
    expect(put[1]?.headers.get('Content-Type')).toBe('application/octet-stream');
  });
});
