/** What waits for the signed-in person, and what they decide. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { Waiting } from './run-types';

export function inboxQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'inbox'),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/inbox', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      );
      return items as unknown as Waiting[];
    },
  });
}

export interface Verdict {
  approvalId: string;
  approve: boolean;
  /** The hash of what was seen. */
  bodyHash: string;
  reason?: string;
  extent?: 'single' | 'session';
  /** The arguments as the person changed them. */
  edited?: Record<string, unknown>;
}

function decide(
  projectId: string,
  { approvalId, approve, bodyHash, reason = '', extent = 'single', edited }: Verdict,
) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/approvals/{approval_id}/decision', {
      params: { path: { project_id: projectId, approval_id: approvalId } },
      body: {
        approve,
        body_hash: bodyHash,
        reason,
        extent,
        ...(edited === undefined ? {} : { arguments: edited }),
      },
    }),
  );
}

/** Whatever comes out of it, the inbox and the run have changed. */
function useAnswering<Variables, Result>(
  projectId: string,
  mutationFn: (variables: Variables) => Promise<Result>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: projectKey(projectId, 'inbox') });
      void client.invalidateQueries({ queryKey: projectKey(projectId, 'run') });
    },
  });
}

export function useDecide(projectId: string) {
  return useAnswering(projectId, (verdict: Verdict) => decide(projectId, verdict));
}

export function useDelegate(projectId: string) {
  return useAnswering(projectId, ({ approvalId, userId }: { approvalId: string; userId: string }) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/approvals/{approval_id}/delegate', {
        params: { path: { project_id: projectId, approval_id: approvalId } },
        body: { user_id: userId },
      }),
    ),
  );
}

export interface GivenAnswer {
  runId: string;
  key: string;
  answer: unknown;
}

/** Answers a question, a gate, a budget request or an uncertain effect. */
export function useAnswer(projectId: string) {
  return useAnswering(projectId, ({ runId, key, answer }: GivenAnswer) =>
    api.POST('/api/v1/projects/{project_id}/runs/{run_id}/answers', {
      params: { path: { project_id: projectId, run_id: runId } },
      body: { key, answer },
    }),
  );
}

/** Stops a message within the seconds before it goes out. */
export function takeBack(projectId: string, runId: string, key: string) {
  return api.POST('/api/v1/projects/{project_id}/runs/{run_id}/take-back', {
    params: { path: { project_id: projectId, run_id: runId } },
    body: { key },
  });
}
