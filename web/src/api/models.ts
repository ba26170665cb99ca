/** Models of a project and its organisation; keys go in and never come back. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];

export type Models = Answer<Schemas['ModelsOut']>;
export type ModelSetup = Answer<Schemas['SetupOut']>;
export type Model = Answer<Schemas['ModelOut']>;
export type ModelProvider = Answer<Schemas['ModelProviderOut']>;
export type ModelTest = Answer<Schemas['TestOut']>;
export type NewModel = Schemas['ModelIn'];
export type ModelUses = Schemas['UsesIn'];
export type Level = 'project' | 'organisation';

/** Its noun is that of `org.steward.models.changed`. */
export function modelsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'models'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/models', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

function useChange<Given>(projectId: string, change: (given: Given) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'models') }),
  });
}

const at = (projectId: string, level: Level, revision: number) => ({
  path: { project_id: projectId, level },
  header: { 'if-match': `"${revision}"` },
});

interface Named {
  level: Level;
  revision: number;
  label: string;
}

export function useSetUpModel(projectId: string) {
  return useChange(projectId, ({ level, revision, label, model }: Named & { model: NewModel }) => {
    const { path, header } = at(projectId, level, revision);
    return bodyOf(
      api.PUT('/api/v1/projects/{project_id}/models/{level}/named/{label}', {
        params: { path: { ...path, label }, header },
        body: model,
      }),
    );
  });
}

export function useRemoveModel(projectId: string) {
  return useChange(projectId, ({ level, revision, label }: Named) => {
    const { path, header } = at(projectId, level, revision);
    return bodyOf(
      api.DELETE('/api/v1/projects/{project_id}/models/{level}/named/{label}', {
        params: { path: { ...path, label }, header },
      }),
    );
  });
}

export function useChooseModels(projectId: string) {
  return useChange(
    projectId,
    ({ level, revision, uses }: { level: Level; revision: number; uses: ModelUses }) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/models/{level}/uses', {
          params: at(projectId, level, revision),
          body: uses,
        }),
      ),
  );
}

export function useRestoreModels(projectId: string) {
  return useChange(projectId, ({ level, revision }: { level: Level; revision: number }) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/models/{level}/revisions/{revision}/restore', {
        params: { path: { project_id: projectId, level, revision } },
      }),
    ),
  );
}

/** Asks a model a few short things; what its server can do is remembered. */
export function useTestModel(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ level, label }: { level: Level; label: string }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/models/{level}/named/{label}/test', {
          params: { path: { project_id: projectId, level, label } },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'models') }),
  });
}

export type LocalModels = Answer<Schemas['LocalOut']>;
export type Weights = Answer<Schemas['WeightsOut']>;

/** What this machine has and can run; only those who keep the machine may see it. */
export function localModelsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'models', 'local'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/local-models', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
    retry: false,
  });
}

/** Starts a run that fetches weights onto this machine. */
export function usePullModel(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, url, sha256 }: { name: string; url: string; sha256: string }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/local-models/{name}/pull', {
          params: { path: { project_id: projectId, name } },
          body: { url: url === '' ? null : url, sha256: sha256 === '' ? null : sha256 },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'models') }),
  });
}
