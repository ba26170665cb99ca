import { afterEach, describe, expect, it, vi } from 'vitest';
import { reportsAmong } from '@/api/reports';
import { forgetTrial, tryRules } from '@/api/resolve';
import { cellOf, titleOf } from '@/pages/resolve/entity-rows';
import {
  decisionOn,
  evidenceOf,
  levelInWords,
  readRules,
  withDecision,
  withThreshold,
} from '@/pages/resolve/rules';
import { parseNames } from '@/pages/resolve/use-steps';

const TEXT = `# Rules for entity resolution.
schema_version: 1

# From \`match\` on, pairs are merged.
thresholds:
  match: 0.9
  review_from: 0.1
  review_to: 0.99

comparisons:
- field: email
  levels:
  - {test: same, m: 0.5, u: 0.0625}  # +3.0 evidence for
`;
const pair = {
  left: { table: 'crm', row: 'C-1', rows: 1, values: {} },
  right: { table: 'crm', row: '7', rows: 1, values: {} },
};

describe('the rules document', () => {
  it('keeps its comments when a threshold is changed', () => {
    const changed = withThreshold(TEXT, 0.995);
    expect(changed).toContain('# From `match` on, pairs are merged.');
    expect(changed).toContain('# +3.0 evidence for');
    expect(readRules(changed)?.thresholds).toEqual({
      match: 0.995,
      review_from: 0.1,
      review_to: 0.995,
    });
  });

  it('moves the band along when the threshold falls below it', () => {
    expect(readRules(withThreshold(TEXT, 0.05))?.thresholds).toMatchObject({ review_from: 0.05 });
  });

  it('holds one word on a pair, whichever way round, and lets it be taken back', () => {
    const same = withDecision(TEXT, pair, true);
    expect(decisionOn(readRules(same), pair)).toBe(true);
    const other = withDecision(same, { left: pair.right, right: pair.left }, false);
    expect(readRules(other)?.decisions).toHaveLength(1);
    expect(decisionOn(readRules(other), pair)).toBe(false);
    const none = withDecision(other, pair, null);
    expect(decisionOn(readRules(none), pair)).toBeUndefined();
    expect(none).not.toContain('decisions');
  });

  it('names rows by text, even those that look like numbers', () => {
    expect(withDecision(TEXT, pair, true)).toContain('row: "7"');
  });

  it('is not read while it is broken', () => {
    expect(readRules('thresholds: [')).toBeNull();
    expect(readRules('just words')).toBeNull();
  });

  it('puts levels into words and evidence into bits', () => {
    expect(levelInWords({ test: 'edits', at_most: 1 })).toBe('at most 1 edit');
    expect(levelInWords({ test: 'same', field: 'email_domain' })).toBe('email domain: the same');
    expect(levelInWords({ test: 'missing', field: 'city' })).toBe('city missing');
    expect(evidenceOf({ test: 'same', m: 0.5, u: 0.0625 })).toBe(3);
    expect(evidenceOf({ test: 'same' })).toBeNull();
  });
});

describe('entities', () => {
  const columns = ['entity_id', 'email', 'company', 'records'].map((name) => ({
    name,
    type: 'VARCHAR',
  }));

  it('are called by what tells them apart', () => {
    const row = ['ent_1', 'a@example.com', 'Acme', '3'];
    expect(titleOf({ columns }, row)).toBe('Acme · a@example.com');
    expect(cellOf({ columns }, row, 'records')).toBe('3');
    expect(titleOf({ columns }, ['ent_1', null, null, '1'])).toBe('Without any value');
  });

  it('come from datasets that the address names', () => {
    expect(parseNames('["a","b, c"]')).toEqual(['a', 'b, c']);
    expect(parseNames('[1,"a"]')).toEqual(['a']);
    expect(parseNames('a')).toEqual([]);
    expect(parseNames(undefined)).toEqual([]);
  });
});

describe('reports', () => {
  it('are one, stored twice', () => {
    const file = (path: string) => ({ path, bytes: 10, media_type: '', digest: path });
    const found = reportsAmong([
      file('originals/a.csv'),
      file('reports/Sales.html'),
      file('reports/Sales.pdf'),
      file('reports/Old.pdf'),
    ]);
    expect(found).toEqual([
      { title: 'Sales', bytes: 20, html: 'reports/Sales.html', pdf: 'reports/Sales.pdf' },
      { title: 'Old', bytes: 10, html: null, pdf: 'reports/Old.pdf' },
    ]);
  });
});

describe('the branch of a trial', () => {
  const asked: string[] = [];
  const answer = (status: number) => (request: Request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return Promise.resolve(Response.json({}, { status: request.method === 'POST' ? status : 404 }));
  };

  afterEach(() => {
    vi.unstubAllGlobals();
    asked.length = 0;
  });

  it('is removed by its whole name, and one that is gone already troubles nobody', async () => {
    vi.stubGlobal('fetch', answer(200));
    await forgetTrial('p', 'trial/crm golden 1');
    expect(asked).toEqual(['DELETE /api/v1/projects/p/branches/trial%2Fcrm%20golden%201']);
  });

  it('is the only kind that an address can have removed', async () => {
    vi.stubGlobal('fetch', answer(200));
    await forgetTrial('p', 'release/1');
    expect(asked).toEqual([]);
  });

  it('does not stay behind when the rules are refused', async () => {
    vi.stubGlobal('fetch', (request: Request) =>
      answer(request.url.endsWith('/resolve') ? 422 : 201)(request),
    );
    const trial = tryRules('p', { datasets: ['crm'], rules: '?', target: 'golden' });
    await expect(trial).rejects.toMatchObject({ status: 422 });
    expect(asked.at(-1)).toMatch(/^DELETE .*\/branches\/trial%2Fgolden%20/);
  });
});
