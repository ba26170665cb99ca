/** Turns, steps and calls for tests. */
import type { Turn, TurnCall, TurnStep } from '@/api/chat-types';

export function turnOf(change: Partial<Turn>): Turn {
  const { run_id: runId = 'run_1' } = change;
  return {
    ...{ run_id: runId, thread_id: 'thr_1', parent: null, siblings: [runId] },
    ...{ message: 'How many orders?', mentions: [], attachments: [], query_type: null },
    ...{
      status: 'done',
      waits: [],
      plans: [],
      steps: [],
      answer: null,
      figures: [],
      reading: null,
      chart: null,
    },
    ...{ deviations: [], suggestions: [], rhythm: null, error: null, undoable: false },
    cost: { usd: null, is_priced: true, tokens: 0, seconds: 1 },
    ...{ created_by: 'usr_1', created_at: '2026-01-01T00:00:00Z' },
    ended_at: '2026-01-01T00:00:01Z',
    ...change,
  };
}

export function stepOf(change: Partial<TurnStep>): TurnStep {
  return {
    ...{ branch: 1, id: 'count', title: 'Count them', agent: 'data-analyst' },
    ...{ tools: ['execute_sql'], fallback_tools: [], status: 'done', summary: '', calls: [] },
    ...change,
  };
}

export function callOf(change: Partial<TurnCall>): TurnCall {
  return {
    ...{ key: 'p1/count/call/1', tool: 'execute_sql', title: 'Run SQL', risk: 'compute' },
    ...{ state: 'done', arguments: {}, decision: null, preview: null, summary: '', value: null },
    ...{ artifacts: [], commits: [], approvals: [], cost: null, error: null, undone: false },
    ...change,
  };
}
