/** Search over everything that a project has. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

export type Hit = components['schemas']['HitOut'];

/** Fewer letters are in everything. */
export const SHORTEST_SEARCH = 2;

export function searchQuery(projectId: string | undefined, words: string) {
  return queryOptions({
    queryKey: projectKey(projectId ?? '', 'search', words),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/search', {
          params: { path: { project_id: projectId ?? '' }, query: { q: words } },
          signal,
        }),
      ),
    enabled: projectId !== undefined && words.length >= SHORTEST_SEARCH,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
}
