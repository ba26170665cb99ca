/** What agents remember between runs: listed, deleted, brought back. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

export type AgentNote = Answer<components['schemas']['AgentNoteOut']>;

const keyOf = (projectId: string, name: string) => projectKey(projectId, 'agent', 'notes', name);

export function agentNotesQuery(projectId: string, name: string) {
  return queryOptions({
    queryKey: keyOf(projectId, name),
    queryFn: async ({ signal }): Promise<AgentNote[]> => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents/{name}/notes', {
          params: { path: { project_id: projectId, name } },
          signal,
        }),
      );
      return items;
    },
  });
}

/** Deletes one note, or all that the person can see. */
export function useDeleteNotes(projectId: string, name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (noteId: string | null) =>
      noteId === null
        ? bodyOf(
            api.DELETE('/api/v1/projects/{project_id}/agents/{name}/notes', {
              params: { path: { project_id: projectId, name } },
            }),
          )
        : bodyOf(
            api.DELETE('/api/v1/projects/{project_id}/agents/{name}/notes/{note_id}', {
              params: { path: { project_id: projectId, name, note_id: noteId } },
            }),
          ),
    onSettled: () => client.invalidateQueries({ queryKey: keyOf(projectId, name) }),
  });
}

/** Takes the run back that deleted them. */
export function useRestoreNotes(projectId: string, name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (runId: string) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/runs/{run_id}/undo', {
          params: { path: { project_id: projectId, run_id: runId } },
          body: { key: 'call', merge_rows: false },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: keyOf(projectId, name) }),
  });
}
