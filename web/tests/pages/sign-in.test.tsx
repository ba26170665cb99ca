import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { emptyProject, json, problem, renderApp, serve, sessionOf } from '../harness';

const session = sessionOf();
const start = vi.fn(() => json(session, { status: 201 }));
const wrong = () => problem(401, { detail: 'The e-mail address or the password is not right.' });

async function fill(email: string, password: string) {
  await userEvent.type(await screen.findByLabelText('E-mail'), email);
  await userEvent.type(screen.getByLabelText('Password'), password);
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
}

describe('signing in with a password', () => {
  it('leads back to where one wanted to go', async () => {
    const sent = serve({
      ...emptyProject(session),
      'GET /api/v1/session': problem(401),
      'POST /api/v1/session': start,
    });
    const { router } = renderApp('/sign-in?next=%2Fp%2Fprj_1%2Fmembers');
    await fill('ada@example.com', 'correct horse battery');
    expect(await screen.findByRole('heading', { level: 1, name: 'Members' })).toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/p/prj_1/members');
    expect(sent.find(({ method }) => method === 'POST')?.body).toEqual({
      email: 'ada@example.com',
      password: 'correct horse battery',
    });
  });

  it('says what is missing without asking the server', async () => {
    const sent = serve({});
    renderApp('/sign-in');
    await userEvent.click(await screen.findByRole('button', { name: 'Sign in' }));
    expect(screen.getByText('Enter your e-mail address.')).toBeInTheDocument();
    expect(screen.getByText('Enter your password.')).toBeInTheDocument();
    expect(screen.getByLabelText('E-mail')).toBeInvalid();
    expect(sent.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('shows why the server refused and lets one try again', async () => {
    serve({ ...emptyProject(session), 'POST /api/v1/session': wrong });
    renderApp('/sign-in');
    await fill('ada@example.com', 'wrong');
    expect(await screen.findByRole('alert')).toHaveTextContent('password is not right');
    expect(screen.getByRole('button', { name: 'Sign in' })).toBeEnabled();
  });
});

describe('signing in in two steps', () => {
  it('asks for the code after the password, and sends both', async () => {
    const sent = serve({
      ...emptyProject(session),
      'GET /api/v1/session': problem(401),
      'POST /api/v1/session': ({ body }: { body: { code?: string } }) =>
        body.code === undefined
          ? problem(401, { code: 'code-needed', detail: 'Type the code.' })
          : start(),
    });
    renderApp('/sign-in?next=%2Fp%2Fprj_1%2Fmembers');
    await fill('ada@example.com', 'correct horse battery');
    const code = await screen.findByLabelText('Code');
    expect(code).toHaveFocus();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    await userEvent.type(code, '123456{Enter}');
    expect(await screen.findByRole('heading', { level: 1, name: 'Members' })).toBeInTheDocument();
    expect(sent.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      { email: 'ada@example.com', password: 'correct horse battery' },
      { email: 'ada@example.com', password: 'correct horse battery', code: '123456' },
    ]);
  });
});

describe('signing in with a provider', () => {
  it('is offered beside the password and keeps where one wanted to go', async () => {
    serve({ 'GET /api/v1/sign-on': () => json([{ id: 'idp_1', name: 'Acme' }]) });
    renderApp('/sign-in?next=%2Fp%2Fprj_1%2Fmembers');
    const link = await screen.findByRole('link', { name: 'Sign in with Acme' });
    expect(link).toHaveAttribute('href', '/api/v1/sign-on/idp_1/start?next=%2Fp%2Fprj_1%2Fmembers');
    expect(screen.getByLabelText('Password')).toBeInTheDocument();
  });

  it('says why it did not work in its own words', async () => {
    serve({});
    renderApp('/sign-in?problem=sign-on-no-access');
    expect(await screen.findByRole('alert')).toHaveTextContent('you have no access here');
  });

  it('shows nothing of an unknown problem', async () => {
    serve({});
    renderApp('/sign-in?problem=%3Cb%3Eboo');
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'Signing in with the provider failed',
    );
    expect(screen.queryByText(/boo/)).not.toBeInTheDocument();
  });
});

describe('signing in with a link', () => {
  it('happens at once, once, and takes the link out of the address', async () => {
    const sent = serve({ ...emptyProject(session), 'POST /api/v1/session': start });
    const { router } = renderApp('/sign-in?link=stl_1');
    expect(await screen.findByRole('heading', { level: 1, name: 'Demo' })).toBeInTheDocument();
    const posts = sent.filter(({ method }) => method === 'POST');
    expect(posts.map(({ body }) => body)).toEqual([{ link: 'stl_1' }]);
    expect(router.history.length).toBe(1);
    expect(router.state.location.href).not.toContain('stl_1');
  });

  it('that has been used leaves the way by password open', async () => {
    serve({ 'POST /api/v1/session': problem(401, { detail: 'This link was used already.' }) });
    const { router } = renderApp('/sign-in?link=stl_1');
    expect(await screen.findByRole('alert')).toHaveTextContent('used already');
    expect(screen.getByLabelText('Password')).toBeInTheDocument();
    await waitFor(() => expect(router.state.location.href).toBe('/sign-in'));
  });
});

describe('an invitation', () => {
  const offer = {
    project_id: 'prj_1',
    project_name: 'Demo',
    playbook_id: null,
    playbook_name: null,
    role: 'editor',
    email: 'grace@example.com',
    invited_by: 'Ada',
    expires_at: '2026-12-01T00:00:00Z',
  };

  it('lets a newcomer sign up and puts the server’s complaint at its field', async () => {
    const sent = serve({
      'GET /api/v1/session': problem(401),
      'POST /api/v1/invitations/lookup': offer,
      'POST /api/v1/invitations/accept': problem(422, {
        errors: [{ pointer: '/password', message: 'A password has at least 10 characters.' }],
      }),
    });
    renderApp('/invite?token=inv_1');
    // The address proposes it.
    expect(await screen.findByLabelText('Your name')).toHaveValue('Grace');
    await userEvent.type(screen.getByLabelText('Choose a password'), 'short');
    await userEvent.click(screen.getByRole('button', { name: 'Join' }));
    expect(await screen.findByText('A password has at least 10 characters.')).toBeInTheDocument();
    expect(screen.getByLabelText('Choose a password')).toHaveAccessibleDescription(
      /at least 10 characters/,
    );
    expect(sent.at(-1)?.body).toEqual({
      token: 'inv_1',
      name: 'Grace',
      email: 'grace@example.com',
      password: 'short',
    });
  });

  it('takes one press for someone who is signed in', async () => {
    const sent = serve({
      ...emptyProject(session),
      'POST /api/v1/invitations/lookup': offer,
      'POST /api/v1/invitations/join': session,
    });
    renderApp('/invite?token=inv_1');
    await userEvent.click(await screen.findByRole('button', { name: 'Join as Ada' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Demo' })).toBeInTheDocument();
    const join = sent.find(({ path }) => path.endsWith('/join'));
    expect(join?.headers.get('X-CSRF-Token')).toBe(session.csrf_token);
  });
});
