/** Weighs edited rules for a run that asks about them, and waits for what is found. */
import { api, bodyOf } from '@/api/client';
import type { Proposal } from '@/api/resolve';
import type { Waiting } from '@/api/run-types';
import { isOver, taskError } from '@/api/tasks';

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
  let task = await bodyOf(api.POST(PLACE, { params: { path }, body: { key, rules } }));
  while (!isOver(task)) {
    await pause();
    const one = { ...path, task_id: task.id };
    task = await bodyOf(api.GET(`${PLACE}/{task_id}`, { params: { path: one } }));
  }
  const problem = taskError(task);
  if (problem) throw problem;
  // The schema leaves the shape of results open; an estimate answers as a proposal does.
  return task.result as unknown as Proposal;
}
