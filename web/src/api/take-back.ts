/** Taking back a whole run, or a change together with the later ones that depend on it. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';

/** A run, one action of it, or a commit. */
export type Whole = { run_id: string; key?: string } | { commit: string };

/** What would go back, asked again each time. */
export function takeBackPlanQuery(projectId: string, whole: Whole) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'take-back', whole),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/take-back', {
          params: { path: { project_id: projectId }, query: whole },
          signal,
        }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
}

export function useTakeBack(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ whole, withLater }: { whole: Whole; withLater: boolean }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/take-back', {
          params: { path: { project_id: projectId } },
          body: { branch: 'main', ...whole, with_later: withLater },
        }),
      ),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: projectKey(projectId, 'run') });
      await client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
    },
  });
}
