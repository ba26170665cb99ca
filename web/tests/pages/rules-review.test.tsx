import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { emptyProject, noContent, renderApp, serve, sessionOf } from '../harness';

const PATH = '/api/v1/projects/prj_1';
const HASH = 'cd'.repeat(32);
const RULES = 'thresholds:\n  match: 0.9\n  review_from: 0.1\n  review_to: 0.99\n';

function proposal(entities: number, rules = RULES) {
  return {
    rules,
    datasets: ['crm'],
    borderline: [],
    notes: [],
    estimate: {
      rows: 100,
      parties: 100,
      pairs_possible: 10,
      pairs_compared: 10,
      matches: 100 - entities,
      borderline: 0,
      entities,
      merged_parties: 0,
      largest_entity: 2,
      links_refused: 0,
      sources: [],
      steps: [{ threshold: 0.99, matches: 5, entities: 95 }],
      notes: [],
    },
  };
}

const gate = {
  kind: 'gate',
  run_id: 'run_1',
  run_title: 'Clean up',
  key: 'review',
  title: 'an approval: Review the rules',
  asked_at: new Date().toISOString(),
  expires_at: null,
  approval: null,
  may_open: true,
  request: {
    message: 'Are these the rules?',
    body_hash: HASH,
    payload: { rules: RULES },
    view: 'entity-rules',
    shown: proposal(80),
    edit: { type: 'object' },
  },
};

const weighing = (change: object) => ({
  id: 'run_2',
  title: 'Estimate the matches',
  status: 'done',
  progress: null,
  output: null,
  error: null,
  ...change,
});

it('approves edited rules only after they were weighed', async () => {
  const sent = serve({
    // Whoever is asked weighs, though they could not edit anything else.
    ...emptyProject(sessionOf('runner')),
    [`GET ${PATH}/inbox`]: { items: [gate], next_cursor: null },
    [`GET ${PATH}/tools`]: { items: [], next_cursor: null },
    [`POST ${PATH}/runs/run_1/weighings`]: weighing({ status: 'running' }),
    [`GET ${PATH}/runs/run_1/weighings/run_2`]: weighing({
      output: { value: proposal(95, RULES.replace('match: 0.9', 'match: 0.99')) },
    }),
    [`POST ${PATH}/runs/run_1/answers`]: noContent(),
  });
  renderApp('/p/prj_1/inbox');
  const counts = await screen.findByRole('status', { name: 'What the rules would do' });
  expect(within(counts).getByText('80')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('tab', { name: 'Threshold' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Use: 0.99' }));
  expect(screen.getByRole('button', { name: /^Approve/ })).toBeDisabled();
  await userEvent.click(screen.getByRole('button', { name: 'Weigh again' }));
  expect(await screen.findByText(/^As proposed: 80 entities/)).toBeInTheDocument();
  expect(within(counts).getByText('95')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: /^Approve/ }));
  expect(await screen.findByText('Approved')).toBeInTheDocument();
  const answers = sent.filter(
    ({ method, path }) => method === 'POST' && !path.includes('weighings'),
  );
  const asked = sent.find(({ path }) => path.endsWith('/weighings'));
  expect(asked?.body).toMatchObject({ key: 'review' });
  expect(JSON.stringify(answers.at(-1)?.body)).toContain('match: 0.99');
});
