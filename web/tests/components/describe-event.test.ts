import { describe, expect, it } from 'vitest';
import { describeEvent, isStory } from '@/components/describe-event';

const nameOf = (id: string) => (id === 'usr_1' ? 'Ada' : null);
const inWords = (kind: string, data = {}, subject = 'usr_1') =>
  describeEvent({ type: `org.steward.${kind}`, data, subject }, nameOf);

describe('events in words', () => {
  it('name people and things', () => {
    expect(inWords('member.changed', { role: 'editor' })).toBe('Ada is now editor');
    expect(inWords('member.removed', {}, 'usr_9')).toBe('A member removed');
    expect(inWords('token.created', { name: 'Nightly', role: 'viewer' })).toBe(
      'API token “Nightly” created as viewer',
    );
  });

  it('tell of connections and what their servers offer', () => {
    expect(inWords('connection.health', { name: 'warehouse', state: 'failing' })).toBe(
      'Connection “warehouse” does not work',
    );
    expect(
      inWords('connection.tools_changed', { name: 'tracker', tools: ['a', 'b', 'c', 'd'] }),
    ).toBe('The server of “tracker” changed accepted tools: “a”, “b”, “c” and 1 more');
    expect(
      inWords('connection.tool_risk_set', {
        name: 'tracker',
        tool: 'close',
        risk: 'external_send',
      }),
    ).toBe('Risk of the tool “close” of “tracker” set to external send');
    expect(inWords('approvers.changed', {}, 'finance')).toBe('Approvers “finance” changed');
  });

  it('read as words even when the kind is new', () => {
    expect(inWords('run.step_finished', { name: 'Profile' })).toBe('Run step finished “Profile”');
  });

  it('leave out what is only meant for one person', () => {
    expect(isStory({ type: 'org.steward.notification.created' })).toBe(false);
    expect(isStory({ type: 'org.steward.secret.changed' })).toBe(true);
  });
});
