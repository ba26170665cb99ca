/** What can be learnt about datasets: asked for here, computed once by the server. */
import { api, bodyOf } from './client';

export function profileOf(projectId: string, dataset: string) {
  return (signal: AbortSignal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/profile', {
        params: { path: { project_id: projectId, dataset } },
        signal,
      }),
    );
}

export function correlationsOf(projectId: string, dataset: string) {
  return (signal: AbortSignal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/correlations', {
        params: { path: { project_id: projectId, dataset } },
        signal,
      }),
    );
}

export function suggestionsOf(projectId: string, dataset: string) {
  return (signal: AbortSignal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/suggestions', {
        params: { path: { project_id: projectId, dataset } },
        signal,
      }),
    );
}

export function relationsOf(projectId: string) {
  return (signal: AbortSignal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/relations', {
        params: { path: { project_id: projectId } },
        signal,
      }),
    );
}
