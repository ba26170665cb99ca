/** Queries that the caller keeps in a project under names. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { QueryType } from './chat';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

export type SavedQuery = components['schemas']['SavedQueryOut'];
export interface NewQuery {
  name: string;
  kind: QueryType;
  query: string;
}

const keyOf = (projectId: string) => projectKey(projectId, 'saved_query');

const put = (projectId: string, body: NewQuery) =>
  bodyOf(
    api.PUT('/api/v1/projects/{project_id}/saved-queries', {
      params: { path: { project_id: projectId } },
      body,
    }),
  );

export function savedQueriesQuery(projectId: string) {
  return queryOptions({
    queryKey: keyOf(projectId),
    queryFn: async ({ signal }) => {
      await sendFromBrowser(projectId);
      const path = { project_id: projectId };
      const found = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/saved-queries', { params: { path }, signal }),
      );
      return found.items;
    },
  });
}

/** Earlier versions kept queries in the browser: they go to the server once, and the browser forgets them. */
async function sendFromBrowser(projectId: string): Promise<void> {
  const key = `steward-queries-${projectId}`;
  let kept: NewQuery[] = [];
  try {
    kept = JSON.parse(localStorage.getItem(key) ?? '[]') as NewQuery[];
    for (const { name, kind, query } of kept) await put(projectId, { name, kind, query });
    localStorage.removeItem(key);
  } catch {
    // What cannot be sent now stays in the browser for the next visit.
  }
}

export function useSaveQuery(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewQuery) => put(projectId, body),
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(projectId) }),
  });
}

export function useDeleteQuery(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (queryId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/saved-queries/{query_id}', {
        params: { path: { project_id: projectId, query_id: queryId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: keyOf(projectId) }),
  });
}
