/** Changing data: the operations there are, what one would do, and doing it. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';

export interface ChangeRequest {
  operation: string;
  datasets: string[];
  arguments: Record<string, unknown>;
  /** Name of the result where it is not the dataset itself. */
  target?: string;
}

export function operationsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['operations', projectId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/operations', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

/** What a change would do. Asked anew each time, for the data may have changed meanwhile. */
export function previewQuery(projectId: string, change: ChangeRequest) {
  return queryOptions({
    queryKey: projectKey(projectId, 'preview', change),
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/changes/preview', {
          params: { path: { project_id: projectId } },
          body: { branch: 'main', ...change },
          signal,
        }),
      ),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** Carries out what was previewed; refused when the data changed since `base`. */
export function useApplyChange(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: ChangeRequest & { base: string }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/changes', {
          params: { path: { project_id: projectId } },
          body: { branch: 'main', ...change },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'data') }),
  });
}
