/** What was done to the data, and taking it back: commits, undo, redo, restore and differences. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';

/** Commits of the main branch, or those that touched one dataset; newest first. */
export function commitsQuery(projectId: string, dataset?: string) {
  return listQuery(projectKey(projectId, 'data', 'commits', dataset ?? null), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/commits', {
        params: {
          path: { project_id: projectId },
          query: { ...query, ...(dataset === undefined ? {} : { dataset }) },
        },
        signal,
      }),
    ),
  );
}

/** What undoing a commit would do, and what was built upon it. */
export function undoPlanQuery(projectId: string, commitId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'undo-plan', commitId),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/commits/{commit_id}/undo', {
          params: { path: { project_id: projectId, commit_id: commitId } },
          signal,
        }),
      ),
  });
}

export function undoCommit(projectId: string, commit?: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/undo', {
      params: { path: { project_id: projectId } },
      body: { branch: 'main', ...(commit === undefined ? {} : { commit }) },
    }),
  );
}

export function redoCommit(projectId: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/redo', {
      params: { path: { project_id: projectId } },
      body: { branch: 'main' },
    }),
  );
}

/** Brings datasets, or everything, to the state of an earlier commit. */
export function useRestore(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ commit, dataset }: { commit: string; dataset?: string | undefined }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/restore-data', {
          params: { path: { project_id: projectId } },
          body: {
            commit,
            branch: 'main',
            ...(dataset === undefined ? {} : { datasets: [dataset] }),
          },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'data') }),
  });
}

/** What changed between two versions, counted. Versions never change, so neither does the answer. */
export function diffQuery(projectId: string, before: string, after: string) {
  return queryOptions({
    queryKey: ['diff', projectId, before, after],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/diff', {
          params: { path: { project_id: projectId }, query: { before, after } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

export const DIFF_PAGE = 100;

export function diffRowsQuery(projectId: string, before: string, after: string, offset: number) {
  return queryOptions({
    queryKey: ['diff', projectId, before, after, 'rows', offset],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/diff/rows', {
          params: {
            path: { project_id: projectId },
            query: { before, after, offset, limit: DIFF_PAGE },
          },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}
