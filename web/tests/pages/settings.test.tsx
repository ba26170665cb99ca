import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Sent } from '../harness';
import { emptyProject, json, noContent, problem, renderApp, serve, sessionOf } from '../harness';

const session = sessionOf('owner');
const [project] = session.projects;
const PATH = '/api/v1/projects/prj_1';

/** A project that refuses a change which does not name its current version. */
class Document {
  name = 'Demo';
  version = 1;
  read = () => json({ ...project, name: this.name }, { headers: { ETag: `"${this.version}"` } });
  write = ({ headers, body }: Sent) => {
    if (headers.get('If-Match') !== `"${this.version}"`) return problem(412, { code: 'stale' });
    this.renameTo((body as { name: string }).name);
    return this.read();
  };
  renameTo(name: string) {
    this.name = name;
    this.version += 1;
  }
}

let stored: Document;

beforeEach(() => {
  stored = new Document();
});

async function openAndRename(to: string) {
  const sent = serve({
    ...emptyProject(session),
    [`GET ${PATH}`]: stored.read,
    [`PATCH ${PATH}`]: stored.write,
  });
  renderApp('/p/prj_1/settings');
  const field = await screen.findByLabelText('Name');
  return { sent, field, save: () => rename(field, to) };
}

async function rename(field: HTMLElement, to: string) {
  await userEvent.clear(field);
  await userEvent.type(field, to);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
}

describe('renaming a project', () => {
  it('names the version it is based on', async () => {
    const { sent, save } = await openAndRename('Month end');
    await save();
    expect(await screen.findByText('Project renamed')).toBeInTheDocument();
    expect(sent.find(({ method }) => method === 'PATCH')?.headers.get('If-Match')).toBe('"1"');
    expect(stored.name).toBe('Month end');
  });

  it('shows what someone else did meanwhile instead of overwriting it', async () => {
    const { field, save } = await openAndRename('Mine');
    stored.renameTo('Theirs');
    await save();
    expect(await screen.findByText(/Its name is now “Theirs”/)).toBeInTheDocument();
    expect(stored.name).toBe('Theirs');
    await userEvent.click(screen.getByRole('button', { name: 'Take theirs' }));
    expect(field).toHaveValue('Theirs');
    expect(screen.queryByText(/Its name is now/)).not.toBeInTheDocument();
  });

  it('overwrites it when told to', async () => {
    const { save } = await openAndRename('Mine');
    stored.renameTo('Theirs');
    await save();
    await userEvent.click(await screen.findByRole('button', { name: 'Save mine instead' }));
    await waitFor(() => expect(stored.name).toBe('Mine'));
  });
});

describe('deleting a project', () => {
  it('happens at once, leaves its pages and can be undone', async () => {
    const other = { ...sessionOf().projects[0], id: 'prj_2', name: 'Other' };
    const both = { ...session, projects: [project, other] };
    let current: unknown = both;
    const empty = Object.entries(emptyProject(session)).map(
      ([route, answer]) => [route.replace('prj_1', 'prj_2'), answer] as const,
    );
    serve({
      ...emptyProject(session),
      ...Object.fromEntries(empty),
      'GET /api/v1/session': () => current,
      [`GET ${PATH}`]: stored.read,
      [`DELETE ${PATH}`]: () => {
        current = { ...both, projects: [other] };
        return noContent();
      },
      [`POST ${PATH}/restore`]: () => {
        current = both;
        return stored.read();
      },
    });
    const { router } = renderApp('/p/prj_1/settings');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete project' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Other' })).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Demo' })).toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/p/prj_1');
  });
});
