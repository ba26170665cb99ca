/** Guided flows: the choices of a form as a playbook. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  type Choices,
  type Condition,
  guidedFlow,
  NO_DELIVERY,
  queryOf,
  slugOf,
} from '@/flows/guide';

const choices: Choices = {
  name: 'Open invoices, weekly',
  work: { dataset: 'invoices' },
  make: { kind: 'workbook' },
  delivery: NO_DELIVERY,
  cron: null,
  timeZone: 'UTC',
};
const condition: Condition = {
  column: 'State',
  holds: 'text',
  type: 'VARCHAR',
  operator: 'eq',
  value: "it's ${open}",
};

interface Written {
  id: string;
  triggers?: unknown[];
  steps: { id: string; tool?: string; arguments?: Record<string, unknown>; payload?: string }[];
}
const written = (given: Partial<Choices>) => parse(guidedFlow({ ...choices, ...given })) as Written;

describe('the query of conditions', () => {
  it('binds every value and quotes every name', () => {
    const query = queryOf('my "data"', [condition, { ...condition, operator: 'contains' }], null);
    expect(query).toEqual({
      language: 'sql',
      code:
        'SELECT *\nFROM "my ""data"""\nWHERE CAST("State" AS VARCHAR) = $state\n' +
        '  AND contains(lower(CAST("State" AS VARCHAR)), lower($state_2))\n',
      parameters: { state: "it's ${open}", state_2: "it's ${open}" },
    });
  });

  it('compares numbers as numbers, moments as moments, and counts days back', () => {
    const amount = { ...condition, column: 'Amount', holds: 'number' as const, value: '12.5' };
    const due = { ...condition, column: 'Due', holds: 'moment' as const, type: 'DATE' };
    const query = queryOf(
      'd',
      [
        { ...amount, operator: 'ge' },
        { ...due, operator: 'lt', value: '2026-01-31' },
        { ...due, operator: 'days', value: '7' },
      ],
      { by: ['Country'], aggregate: 'sum', column: 'Amount' },
    );
    expect(query?.parameters).toEqual({ amount: 12.5, due: '2026-01-31', due_days: 7 });
    expect(query?.code).toContain('SELECT "Country", sum("Amount") AS "sum of Amount"');
    expect(query?.code).toContain('"Due" < CAST($due AS DATE)');
    expect(query?.code).toContain('GROUP BY "Country"');
  });

  it('leaves out what is not complete, and is none without anything', () => {
    expect(queryOf('d', [{ ...condition, value: ' ' }], null)).toBeNull();
    expect(queryOf('d', [{ ...condition, holds: 'number', value: 'x' }], null)).toBeNull();
  });
});

describe('a guided flow', () => {
  it('makes a file of a whole dataset', () => {
    const made = written({});
    expect(made.id).toBe('open-invoices-weekly');
    expect(made.triggers).toBeUndefined();
    expect(made.steps.map(({ tool }) => tool)).toEqual(['render_xlsx']);
  });

  it('keeps chosen rows as a dataset, asks, and sends the file at its time', () => {
    const query = queryOf('invoices', [condition], null) ?? undefined;
    if (!query) throw new Error('no query');
    const made = written({
      work: { query },
      delivery: { ...NO_DELIVERY, kind: 'email', to: ['a@example.org'] },
      cron: '0 8 * * 1',
    });
    expect(made.steps.map(({ id }) => id)).toEqual(['data', 'workbook', 'look', 'send']);
    expect(made.steps[0]?.arguments).toMatchObject({
      target: 'open_invoices_weekly',
      // What people typed is no expression.
      parameters: { state: "it's $${open}" },
    });
    expect(made.steps[3]?.arguments?.attachments).toBe('${nodes.workbook.output.files}');
    expect(made.triggers).toHaveLength(1);
  });

  it('repeats calls with their arguments, each under an id of its own', () => {
    const step = { title: 'Trim', tool: 'clean', arguments: { dataset: 'd', operation: 'trim' } };
    const made = written({ work: { steps: [step, step] }, make: { kind: 'rows' } });
    expect(made.steps.map(({ id }) => id)).toEqual(['clean', 'clean_2']);
  });

  it('has an id that playbooks may have', () => {
    for (const name of ['Ü', '12', 'a'.repeat(90), '--x--', 'Größe 3']) {
      expect(slugOf(name)).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    }
  });
});
