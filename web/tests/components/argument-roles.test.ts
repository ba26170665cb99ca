import { describe, expect, it } from 'vitest';
import { argumentsByRole } from '@/components/argument-roles';

describe('arguments by what they are for', () => {
  it('shows recipients, destinations and amounts first and leaves out what is empty', () => {
    const given = { text: 'Hello', to: ['a@x.example'], cc: [], sum: 0, connection: null };
    const roles = {
      text: 'content',
      connection: 'target',
      cc: 'recipient',
      sum: 'amount',
      to: 'recipient',
    };
    expect(argumentsByRole(given, roles)).toEqual([
      { path: 'to', role: 'recipient', value: ['a@x.example'] },
      { path: 'sum', role: 'amount', value: 0 },
      { path: 'text', role: 'content', value: 'Hello' },
    ]);
  });

  it('finds fields inside lists, and names with dots', () => {
    const given = { people: [{ email: 'a' }, { email: 'b' }], 'odd.name': 1, more: { x: 2 } };
    const roles = {
      'people[].email': 'recipient',
      'odd~2ename': 'plain',
      'more.*': 'undeclared',
    };
    expect(argumentsByRole(given, roles)).toEqual([
      { path: 'people[].email', role: 'recipient', value: ['a', 'b'] },
      { path: 'more.*', role: 'undeclared', value: [{ x: 2 }] },
      { path: 'odd~2ename', role: 'plain', value: 1 },
    ]);
  });
});
