/** Weighs edited rules and waits for what is found. */
import { api, bodyOf } from '@/api/client';
import { estimateRules, type Proposal } from '@/api/resolve';
import { isOver, taskError } from '@/api/tasks';

const ASK_EVERY = 400;
const pause = () => new Promise((done) => setTimeout(done, ASK_EVERY));

export async function weighed(projectId: string, datasets: string[], rules: string) {
  let task = await estimateRules(projectId, datasets, rules);
  while (!isOver(task)) {
    await pause();
    task = await bodyOf(
      api.GET('/api/v1/projects/{project_id}/tasks/{task_id}', {
        params: { path: { project_id: projectId, task_id: task.id } },
      }),
    );
  }
  const problem = taskError(task);
  if (problem) throw problem;
  // The schema leaves the shape of results open; an estimate answers as a proposal does.
  return task.result as unknown as Proposal;
}
