/** Definitions: what words mean in the project; read together, changed entry by entry. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Definitions = Schemas['Definitions'];
export type TableDefinition = Schemas['TableDefinition'];
export type ColumnDefinition = Schemas['ColumnDefinition'];
export type Metric = Schemas['Metric'];
export type Relationship = Schemas['Relationship'];
export type DefinitionState = NonNullable<ColumnDefinition['state']>;
export type DefinitionChange = Schemas['DefinitionChangeOut'];
export type DefinitionRevision = Schemas['DefinitionsRevisionOut'];
export type DefinitionUse = Schemas['UseOut'];
export type LoadedDefinitions = Schemas['DefinitionsOut'];
export type Entry = Record<string, unknown>;

const NOUN = 'definitions';

function withRevision(projectId: string, revision: number) {
  return { path: { project_id: projectId }, header: { 'if-match': `"${revision}"` } };
}

export function definitionsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/definitions', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

export function definitionHistoryQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'history'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/definitions/history', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

export function definitionDiffQuery(projectId: string, left: number, right: number) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'diff', left, right),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/definitions/diff', {
          params: { path: { project_id: projectId }, query: { left, right } },
          signal,
        }),
      ),
  });
}

export function definitionUsesQuery(projectId: string, entry: string) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'uses', entry),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/definitions/uses', {
          params: { path: { project_id: projectId }, query: { entry } },
          signal,
        }),
      ),
  });
}

/** What a person does: sets entries, confirms or rejects some (null: all that are proposed), or restores a revision. */
export type DefinitionAction =
  | { kind: 'set'; changes: { entry: string; value: Entry | null }[] }
  | { kind: 'confirm' | 'reject'; entries: string[] | null }
  | { kind: 'restore'; revision: number };

export function useDefinitionAction(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ action, revision }: { action: DefinitionAction; revision: number }) => {
      const params = withRevision(projectId, revision);
      switch (action.kind) {
        case 'set':
          return bodyOf(
            api.POST('/api/v1/projects/{project_id}/definitions/changes', {
              params,
              body: { changes: action.changes, message: '' },
            }),
          );
        case 'confirm':
          return bodyOf(
            api.POST('/api/v1/projects/{project_id}/definitions/confirm', {
              params,
              body: { entries: action.entries, message: '' },
            }),
          );
        case 'reject':
          return bodyOf(
            api.POST('/api/v1/projects/{project_id}/definitions/reject', {
              params,
              body: { entries: action.entries, message: '' },
            }),
          );
        case 'restore':
          return bodyOf(
            api.POST('/api/v1/projects/{project_id}/definitions/restore', {
              params,
              body: { revision: action.revision, message: '' },
            }),
          );
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) }),
  });
}

export type DefinitionFormat = 'steward' | 'ossie' | 'dbt';

/** The definitions that count as a file, with what the format cannot say. */
export function exportDefinitions(projectId: string, format: DefinitionFormat) {
  return bodyOf(
    api.GET('/api/v1/projects/{project_id}/definitions/export', {
      params: { path: { project_id: projectId }, query: { format } },
    }),
  );
}

export function useImportDefinitions(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ text, revision }: { text: string; revision: number }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/definitions/import', {
          params: withRevision(projectId, revision),
          body: { text, trial: false, message: '' },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) }),
  });
}
