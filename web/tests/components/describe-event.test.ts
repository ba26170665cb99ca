import { describe, expect, it } from 'vitest';
import { describeEvent, isStory } from '@/components/describe-event';
import { factsOf } from '@/components/EventLine';

const names: Record<string, string> = {
  usr_1: 'Ada',
  usr_2: 'Carla Controller',
  pbk_1: 'Unpaid invoices',
  run_1: 'Monday report',
};
const inWords = (kind: string, data = {}, subject = 'usr_1', who: string | null = 'Owner') =>
  describeEvent({ type: `org.steward.${kind}`, data, subject, who, names });

describe('events in words', () => {
  it('say who did what to what', () => {
    const allowed = { users: ['usr_2'], groups: ['finance'], everyone: false };
    expect(inWords('playbook.shared', { by: 'usr_1', allowed }, 'pbk_1')).toBe(
      'Owner shared the playbook “Unpaid invoices” with Carla Controller and the group “finance”',
    );
    expect(inWords('playbook.shared', { allowed: {} }, 'pbk_1')).toBe(
      'Owner made the playbook “Unpaid invoices” private',
    );
    expect(inWords('run.cancel_asked', {}, 'run_1')).toBe(
      'Owner cancelled the run “Monday report”',
    );
    expect(inWords('data.committed', { operation: 'ingest', datasets: ['sales'] }, 'cmt_1')).toBe(
      'Owner loaded “sales”',
    );
    expect(inWords('data.committed', { operation: 'my_tool', datasets: ['a', 'b'] }, 'c')).toBe(
      'Owner changed “a” and “b” (my tool)',
    );
  });

  it('name people and things', () => {
    expect(inWords('member.changed', { role: 'editor' })).toBe('Owner gave Ada the role editor');
    expect(inWords('member.changed', { role: 'editor' }, 'usr_1', null)).toBe('Ada is now editor');
    expect(inWords('member.removed', { by: 'usr_1' })).toBe('Ada left the project');
    expect(inWords('member.removed', {}, 'usr_9')).toBe('Owner removed a member');
    expect(inWords('token.created', { name: 'Nightly', role: 'viewer' }, 'tok_1')).toBe(
      'Owner created the API token “Nightly” as viewer',
    );
  });

  it('tell of connections and what their servers offer', () => {
    expect(inWords('connection.health', { name: 'warehouse', state: 'failing' }, 'con_1')).toBe(
      'Connection “warehouse” does not work',
    );
    expect(
      inWords(
        'connection.tools_changed',
        { name: 'tracker', tools: ['a', 'b', 'c', 'd'] },
        'con_1',
      ),
    ).toBe('The server of “tracker” changed accepted tools: “a”, “b”, “c” and 1 more');
    expect(
      inWords(
        'connection.tool_risk_set',
        { name: 'tracker', tool: 'close', risk: 'external_send' },
        'con_1',
      ),
    ).toBe('Owner set the risk of the tool “close” of “tracker” to external send');
    expect(inWords('approvers.changed', {}, 'finance')).toBe(
      'Owner changed the approvers “finance”',
    );
  });

  it('open to facts without ids and without JSON', () => {
    const data = { by: 'usr_1', to: 'usr_2', safe_mode: true, limits: { usd: 2 }, files: [] };
    expect(factsOf({ data, names })).toEqual([
      ['To', 'Carla Controller'],
      ['Safe mode', 'yes'],
      ['Limits', 'Usd: 2'],
    ]);
  });

  it('read as words even when the kind is new', () => {
    expect(inWords('run.step_finished', { name: 'Profile' })).toBe('Run step finished “Profile”');
  });

  it('leave out what is only meant for one person', () => {
    expect(isStory({ type: 'org.steward.notification.created' })).toBe(false);
    expect(isStory({ type: 'org.steward.secret.changed' })).toBe(true);
  });
});
