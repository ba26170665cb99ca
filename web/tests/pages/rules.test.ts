import { describe, expect, it } from 'vitest';
import { roleAtLeast, rolesUpTo } from '@/api/roles';
import { nextSteps } from '@/pages/home/steps';
import { mayChange } from '@/pages/members/MemberTable';
import { isRestorable, tokenState } from '@/pages/tokens/token-state';
import { sessionOf } from '../harness';

const NOW = Date.parse('2026-11-15T12:00:00Z');

describe('roles', () => {
  it('include those below', () => {
    expect(roleAtLeast('admin', 'editor')).toBe(true);
    expect(roleAtLeast('operator', 'editor')).toBe(false);
    expect(rolesUpTo('editor')).toEqual(['runner', 'viewer', 'operator', 'editor']);
  });

  it('decide whose role one may change', () => {
    const member = { role: 'editor', inherited: false } as const;
    expect(mayChange('admin', member)).toBe(true);
    expect(mayChange('editor', member)).toBe(false);
    expect(mayChange('admin', { ...member, role: 'owner' })).toBe(false);
    expect(mayChange('owner', { ...member, inherited: true })).toBe(false);
  });
});

describe('a token', () => {
  const token = { expires_at: '2026-11-16T00:00:00Z', revoked_at: null };

  it('works until it expires or is revoked', () => {
    expect(tokenState(token, NOW)).toBe('active');
    expect(tokenState({ ...token, expires_at: '2026-11-15T12:00:00Z' }, NOW)).toBe('expired');
    expect(tokenState({ ...token, revoked_at: '2026-11-15T11:00:00Z' }, NOW)).toBe('revoked');
  });

  it('comes back within ten minutes of being revoked', () => {
    expect(isRestorable({ ...token, revoked_at: '2026-11-15T11:50:01Z' }, NOW)).toBe(true);
    expect(isRestorable({ ...token, revoked_at: '2026-11-15T11:50:00Z' }, NOW)).toBe(false);
    expect(isRestorable(token, NOW)).toBe(false);
  });
});

describe('next steps', () => {
  const session = sessionOf('owner');
  const demo = { ...session.projects[0], is_demo: true } as (typeof session.projects)[number];
  const ids = (steps: { id: string; done: boolean }[]) =>
    steps.map(({ id, done }) => (done ? `${id} done` : id));

  it('come from what is already there', () => {
    const situation = { session, project: demo, members: 2, tokens: 0 };
    expect(ids(nextSteps(situation))).toEqual([
      'tour',
      'look',
      'invite done',
      'token',
      'project done',
    ]);
  });

  it('offer a viewer nothing they may not do', () => {
    const project = { ...demo, role: 'viewer' as const };
    const steps = nextSteps({ session, project, members: 1, tokens: 0 });
    expect(ids(steps)).toEqual(['tour', 'look', 'token']);
  });

  it('wait until it is known what is there', () => {
    const steps = nextSteps({ session, project: demo, members: undefined, tokens: undefined });
    expect(ids(steps)).toEqual(['tour', 'look', 'project done']);
  });

  it('begin with a password for those who came by a link', () => {
    const user = { ...session.user, has_password: false };
    const situation = { session: { ...session, user }, project: demo, members: 1, tokens: 1 };
    expect(nextSteps(situation)[0]?.id).toBe('password');
  });
});
