/** Weighs edited rules for a run that asks about them, and waits for what is found. */
import { api, bodyOf } from '@/api/client';
import type { Proposal } from '@/api/resolve';
import type { Waiting } from '@/api/run-types';
import { isOver, workError, workOf } from '@/api/long-work';

const ASK_EVERY = 400;
const PLACE = '/api/v1/projects/{project_id}/runs/{run_id}/weighings';
const pause = () => new Promise((done) => setTimeout(done, ASK_EVERY));

/** Whoever is asked may do this, with whatever role; nothing is written. */
export async function weighed(
  projectId: string,
  { run_id: runId, key }: Pick<Waiting, 'run_id' | 'key'>,
  rules: string,
) {
  const path = { project_id: projectId, run_id: runId };
  let work = workOf(await bodyOf(api.POST(PLACE, { params: { path }, body: { key, rules } })));
  while (!isOver(work)) {
    await pause();
    const one = { ...path, weighing_id: work.id };
    work = workOf(await bodyOf(api.GET(`${PLACE}/{weighing_id}`, { params: { path: one } })));
  }
  const problem = workError(work);
  if (problem) throw problem;
  // The schema leaves the shape of results open; an estimate answers as a proposal does.
  return work.result as Proposal;
}
