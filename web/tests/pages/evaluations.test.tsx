import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { EvaluationCase } from '@/api/evaluations';
import { byKind, kindInWords } from '@/pages/evaluations/kinds';
import { measuresInWords } from '@/pages/evaluations/PlannerSection';
import { parsed } from '@/pages/evaluations/use-keep-file';
import type { Sent } from '../harness';
import { emptyProject, noContent, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';

const report = (id: string, failed: number) => ({
  id,
  title: `Suites of ${id}`,
  mode: 'offline',
  cases: 2,
  passed: 2 - failed,
  failed,
  created_by: 'usr_1',
  created_at: '2026-03-01T10:00:00Z',
});

function found(id: string, kind: string, outcome: string): EvaluationCase {
  const problems = outcome === 'failed' ? [`${id} went wrong`] : [];
  return { suite: 'mine', id, kind, title: '', outcome, problems, facts: { f1: 0.7 }, seconds: 1 };
}

const measures = {
  since: '2026-02-01T00:00:00Z',
  turns: 4,
  plans: 5,
  planner_latency_s: { p50: 0.5, p95: 12.3 },
  adherence_rate: 0.875,
  deviations: { fallback: 2 },
  validation_failures: 1,
  repaired_rate: null,
  fallback_rate: 0,
  completion_rate: 1,
  unsourced_figures: 3,
};

function project(): Record<string, unknown> {
  return {
    ...emptyProject(sessionOf('editor')),
    [`GET ${PATH}/evaluations`]: {
      items: [report('evl_2', 1), report('evl_1', 0)],
      next_cursor: null,
    },
    [`GET ${PATH}/planner/measures`]: measures,
    [`GET ${PATH}/evaluations/evl_2`]: {
      ...report('evl_2', 1),
      steward: '0.1.0',
      began_at: '2026-03-01T09:00:00Z',
      seconds: 12,
      models: {},
      results: [found('fine', 'plan', 'passed'), found('wrong', 'merge', 'failed')],
    },
    [`GET ${PATH}/evaluations/evl_2/comparison`]: {
      before: report('evl_1', 0),
      after: report('evl_2', 1),
      broken: ['mine/wrong'],
      mended: [],
      still_failing: [],
      new: [],
      gone: [],
      moved: [{ case: 'mine/wrong', fact: 'f1', before: 0.9, after: 0.7 }],
      seconds_before: 10,
      seconds_after: 12,
    },
  };
}

describe('evaluations', () => {
  it('lists reports and how planning goes, and deletes with a way back', async () => {
    const routes = project();
    let restored: Sent | undefined;
    routes[`DELETE ${PATH}/evaluations/evl_1`] = () => noContent();
    routes[`POST ${PATH}/evaluations/evl_1/restore`] = (sent: Sent) => {
      restored = sent;
      return report('evl_1', 0);
    };
    serve(routes);
    renderApp('/p/prj_1/evaluations');
    expect(await screen.findByText('1 of 2 failed')).toBeInTheDocument();
    expect(screen.getByText('2 of 2 passed')).toBeInTheDocument();
    expect(await screen.findByText('88 %')).toBeInTheDocument();
    const row = screen.getByRole('row', { name: /evl_1/ });
    await userEvent.click(within(row).getByRole('button', { name: 'Delete' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(restored).toBeDefined());
  });

  it('shows the cases of a report and what changed since another', async () => {
    serve(project());
    renderApp('/p/prj_1/evaluations/evl_2?before=evl_1');
    expect(await screen.findByText('wrong went wrong')).toBeInTheDocument();
    expect(screen.getByRole('heading', { name: 'Merge accuracy' })).toBeInTheDocument();
    expect(await screen.findByText(/Broken/)).toBeInTheDocument();
    expect(screen.getByText('mine/wrong: f1 0.9 → 0.7')).toBeInTheDocument();
    await userEvent.click(screen.getByText('Failed only'));
    await waitFor(() => expect(screen.queryByText('mine/fine')).not.toBeInTheDocument());
  });

  it('puts cases together by kind, failed ones first', () => {
    const cases = [
      found('a', 'own-kind', 'passed'),
      found('b', 'merge', 'passed'),
      found('c', 'merge', 'failed'),
      found('d', 'plan', 'skipped'),
    ];
    const ids = byKind(cases).map(([kind, group]) => [kind, group.map(({ id }) => id)]);
    expect(ids).toEqual([
      ['plan', ['d']],
      ['merge', ['c', 'b']],
      ['own-kind', ['a']],
    ]);
    expect(kindInWords('own-kind')).toBe('Own-kind');
  });

  it('says measures in words', () => {
    const words = Object.fromEntries(
      measuresInWords(measures).map((each) => [each.label, each.value]),
    );
    expect(words).toMatchObject({
      Repaired: '–',
      Deviations: '2 fallback',
      'Planning takes': 'half within 0.50 s, 95 % within 12 s',
    });
  });

  it('takes only objects for reports', () => {
    expect(parsed('{"format": 1}')).toEqual({ format: 1 });
    for (const text of ['[]', 'null', '3', 'no']) expect(parsed(text)).toBeNull();
  });
});
